#include <gtest/gtest.h>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/import_huggingface.h"
#include "experiments/run/load_run.h"
#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/says.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

/// A T5 whose words w0, w1, ... are its ids, and whose unknown word is w7.
class GivenTokenizer : public FamilyFolder {
 protected:
  GivenTokenizer() {
    auto vocabulary = json::object();
    for (int id = 0; id < 23; ++id) vocabulary["w" + std::to_string(id)] = id;
    const json model{{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "w7"}};
    const json words{{"version", "1.0"},
                     {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                     {"decoder", nullptr},
                     {"model", model}};
    training::write_durably(folder() / "tokenizer.json", words.dump());
    training::write_durably(folder() / "tokenizer_config.json", R"({"unk_token": "w7"})");
    write(families().at("t5").at("config"), tensors_of(families().at("t5")));
    import("own", "");
  }
  void import(const std::string& to, const std::filesystem::path& tokenizers) const {
    import_huggingface({.from = folder(),
                        .to = folder() / to,
                        .config = {},
                        .tokenizers = tokenizers,
                        .names = {}});
  }
};

TEST_F(GivenTokenizer, OfAnImportedRunHasTheSameRowsOnceMore) {
  import("again", folder() / "own");
  const auto own = training::weights_of(*run::load_run(folder() / "own", "").model);
  for (const auto& [name, tensor] :
       training::weights_of(*run::load_run(folder() / "again", "").model))
    EXPECT_TRUE(torch::equal(tensor, own.at(name))) << name;
}

TEST_F(GivenTokenizer, WithOtherSpecialTokensIsRefused) {
  auto config = families().at("t5").at("config");
  config["eos_token_id"] = 9;
  training::write_durably(folder() / "config.json", config.dump());
  EXPECT_TRUE(says(refusal_of<UsageError>([&] { import("again", folder() / "own"); }),
                   "has other special tokens than the tokenizer"));
}

TEST_F(GivenTokenizer, HasTheUnknownTokenOfItsModelIfNoConfigurationNamesOne) {
  std::filesystem::remove(folder() / "tokenizer_config.json");
  import("unnamed", "");
  const auto loaded = run::load_run(folder() / "unnamed", "");
  EXPECT_EQ(loaded.tokenizers.target.ids().theirs(tokenizer::kUnk), 7);
  EXPECT_EQ(tokenizer::fidelity(loaded.tokenizers.target, "w8 unseen").unknown_tokens, 1);
}

}  // namespace
}  // namespace ablate::exchange
