#include "experiments/exchange/huggingface/import_huggingface.h"

#include <gtest/gtest.h>

#include <sstream>

#include "experiments/errors.h"
#include "experiments/run/load_run.h"
#include "experiments/run/start_model.h"
#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/says.h"

namespace ablate::exchange {
namespace {

/// A T5 with words, and the run that is made of it.
class GivenTokenizer : public FamilyFolder {
 protected:
  GivenTokenizer() {
    write_text("tokenizer.json", words(kTokens).dump());
    write_text("tokenizer_config.json", R"({"unk_token": "w7"})");
    write_family("t5");
    import_as("own");
  }
};

TEST_F(GivenTokenizer, OfAnImportedRunHasTheSameRowsOnceMore) {
  import_as("again", folder() / "own");
  const auto own = training::weights_of(*run::load_run(folder() / "own", "").model);
  for (const auto& [name, tensor] :
       training::weights_of(*run::load_run(folder() / "again", "").model))
    EXPECT_TRUE(torch::equal(tensor, own.at(name))) << name;
}

TEST_F(GivenTokenizer, WithOtherSpecialTokensIsRefused) {
  auto config = families().at("t5").at("config");
  config["eos_token_id"] = 9;
  write_text("config.json", config.dump());
  EXPECT_TRUE(says(refusal_of<UsageError>([&] { import_as("again", folder() / "own"); }),
                   "has other special tokens than the tokenizer"));
}

TEST_F(GivenTokenizer, HasTheUnknownTokenOfItsModelIfNoConfigurationNamesOne) {
  std::filesystem::remove(folder() / "tokenizer_config.json");
  import_as("unnamed");
  const auto loaded = run::load_run(folder() / "unnamed", "");
  EXPECT_EQ(loaded.tokenizers.target.ids().theirs(tokenizer::kUnk), 7);
  EXPECT_EQ(tokenizer::fidelity(loaded.tokenizers.target, "w8 unseen").unknown_tokens, 1);
}

using SuppressionNotes = FamilyFolder;

TEST_F(SuppressionNotes, StandBeforeTheTrainingOfAnImportedModel) {
  write_text("tokenizer.json", words(kTokens).dump());
  write_family("smollm");
  const auto run = folder() / "run";
  import_as("run");
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
