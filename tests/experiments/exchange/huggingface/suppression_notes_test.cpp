#include <gtest/gtest.h>

#include <sstream>

#include "experiments/exchange/huggingface/import_huggingface.h"
#include "experiments/run/load_run.h"
#include "experiments/run/start_model.h"
#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/says.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;
using SuppressionNotes = FamilyFolder;

TEST_F(SuppressionNotes, StandBeforeTheTrainingOfAnImportedModel) {
  auto vocabulary = json::object();
  for (int id = 0; id < 23; ++id) vocabulary["w" + std::to_string(id)] = id;
  const json model{{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "w7"}};
  training::write_durably(folder() / "tokenizer.json",
                          json{{"version", "1.0"}, {"model", model}}.dump());
  write(families().at("smollm").at("config"), tensors_of(families().at("smollm")));
  const auto run = folder() / "run";
  import_huggingface({.from = folder(), .to = run, .config = {}, .tokenizers = {}, .names = {}});
  const auto loaded = run::load_run(run, "");
  const std::optional<data::Labels> labels;
  const data::Corpus corpus;
  const auto said = [&](const std::vector<std::string>& frozen, double smoothing) {
    auto own = loaded.experiment;
    own.training.steps = 5;
    own.training.freeze = frozen;
    own.training.label_smoothing = smoothing;
    own.training.init_from.run = run.string();
    std::ostringstream messages;
    run::start_model(*run::make_model(own, loaded.tokenizers), own,
                     {.folder = run, .corpus = corpus, .seed = 1, .labels = labels}, messages);
    return messages.str();
  };
  const auto usual = said({}, 0.1), kept = said({"output_bias"}, 0);
  EXPECT_TRUE(says(usual, "training.freeze: [output_bias] keeps the model exportable"));
  EXPECT_TRUE(says(usual, "training.label_smoothing spreads probability over 1 token that"));
  EXPECT_TRUE(says(kept, "starting from"));
  EXPECT_FALSE(says(kept, "output_bias"));
  EXPECT_FALSE(says(kept, "label_smoothing"));
}

}  // namespace
}  // namespace ablate::exchange
