#include <nlohmann/json.hpp>
#include <set>

#include "experiments/exchange/huggingface/hub_card.h"
#include "tests/experiments/program.h"
#include "tests/says.h"
#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

constexpr const char* kQwen2 = "--set model.attention.qkv_bias=true";

/// A model as Llama's of a file of tokens, in which 0 divides documents that attention does not
/// look behind.
class HubExportTest : public ProgramTest {
 protected:
  HubExportTest() {
    std::string bytes;
    for (int i = 0; i < 900; ++i)
      for (const char one : {static_cast<char>(i % 7 == 0 ? 0 : 1 + (i * i + i / 7) % 9), '\0'})
        bytes += one;
    write_file(folder_ / "a.bin", bytes);
    run_ = trained(
        "tokens",
        "  data: { task: tokens, train: a.bin, validation: a.bin, vocabulary: 10, end_token: 0, "
        "mask_documents: true, block: 16 }\n"
        "  model: { family: decoder_only, d_model: 16, layers: 2, dropout: 0.0, attention: { "
        "heads: 2 }, position: rotary, norm: { kind: rms, placement: pre }, bias: false, "
        "embedding_scale: false, feed_forward: { d_hidden: 24, activation: silu, gated: true } }\n"
        "  training: { steps: 20, save_every: 10, tokens_per_batch: 160, max_length: 32, threads: "
        "1, schedule: { kind: constant, peak: 1.0e-2 } }\n");
  }
  Outcome exported(const std::string& more) const {
    return program("export", run_, "--to", folder_ / "out", more, "2>&1");
  }
  /// Trains another run of a study's file and exports it.
  Outcome trained_and_exported(const std::string& file, const std::string& run,
                               const std::string& sets = "") {
    const auto runs = folder_ / ("runs-" + std::to_string(++trained_));
    EXPECT_TRUE(ends(program("run", folder_ / file, sets, "--output", runs, "2>&1"), 0));
    return program("export", runs / run, "--to", folder_ / "out", "--format huggingface 2>&1");
  }
  json written(const std::string& name) const { return read_json(folder_ / "out" / name); }

  std::filesystem::path run_;
  int trained_ = 0;
};

TEST_F(HubExportTest, AMaskBetweenDocumentsIsNamedOnTheCardAndTheScreen) {
  const std::string note = "It was trained and scored with a mask between documents";
  ASSERT_TRUE(ends(exported("--format huggingface"), 0, "note: " + note));
  const auto card = read_file(folder_ / "out/README.md");
  EXPECT_TRUE(says(card, note));
  EXPECT_TRUE(says(card,
                   "Number n of its files of tokens has the id n + 4 here, and their end token "
                   "0 has the id 2."));
}

TEST_F(HubExportTest, TheCardHasNoScoresOfOtherWeights) {
  const std::string scores = "| test set | loss |";
  const auto card = [&](const std::string& more) {
    std::filesystem::remove_all(folder_ / "out");
    EXPECT_EQ(exported("--format huggingface " + more).code, 0);
    return read_file(folder_ / "out/README.md");
  };
  EXPECT_TRUE(says(card(""), scores));
  EXPECT_TRUE(says(card("--checkpoint last"), scores));
  const auto other = card("--checkpoint 10");
  EXPECT_TRUE(says(other, "weights: step 10"));
  EXPECT_FALSE(says(other, scores));
  EXPECT_TRUE(says(other, "The run's scores are of other weights: last."));
}

TEST_F(HubExportTest, ATokenizerThatTransformersWouldReplaceIsNamed) {
  EXPECT_TRUE(ends(trained_and_exported("tokens.yaml", "tokens/tokens/base/seed-1", kQwen2), 0,
                   "PreTrainedTokenizerFast.from_pretrained"));
  EXPECT_TRUE(says(read_file(folder_ / "out/README.md"), "AutoTokenizer of Transformers 5"));
}

TEST_F(HubExportTest, ASpecialTokenThatTheTokenizerLacksIsNamed) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a b b a\n";
  write_file(folder_ / "text.txt", text);
  write_file(
      folder_ / "tokenizer.json",
      R"({"version": "1.0", "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": )"
      R"("WordLevel", "vocab": {"<unk>": 0, "</s>": 1, "a": 2, "b": 3, "<s>": 4}, "unk_token": )"
      R"("<unk>"}})");
  write_file(folder_ / "words.yaml",
             "extends: tokens.yaml\nname: words\nbase:\n  data: { task: language, train: text.txt, "
             "validation: text.txt, test: text.txt }\n  tokenizer: { file: tokenizer.json }\n");
  const std::string run = "words/language/base/seed-1";
  for (const auto& [key, lacking] : {std::pair{"eos_token", "a start"}, {"bos_token", "an end"}}) {
    write_file(folder_ / "tokenizer_config.json",
               json{{key, "</s>"}, {"unk_token", "<unk>"}}.dump());
    EXPECT_TRUE(ends(trained_and_exported("words.yaml", run), 2,
                     std::string("the model reads ") + lacking + " token, which"));
  }
  write_file(folder_ / "tokenizer_config.json",
             R"({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"})");
  EXPECT_TRUE(ends(trained_and_exported("words.yaml", run, kQwen2), 0,
                   "PreTrainedTokenizerFast.from_pretrained"))
      << "Transformers would replace it, too";
}

TEST_F(HubExportTest, AModelThatMasksDocumentsWritesInTorchScriptAsItWasTrained) {
  EXPECT_TRUE(ends(exported(""), 0, ", 0 with other ids"));
}

TEST_F(HubExportTest, ThePromptsNumberOfTheEndTokenEndsADocument) {
  const auto continued = [&](const std::string& prompt) {
    const auto output = output_of(shell(kProgram + " generate " + run_.string() +
                                        " --beam 1 --max-length 8 --prompt '" + prompt + "' 2>&1"));
    return output.substr(std::min(prompt.size(), output.size()));
  };
  EXPECT_EQ(continued("1 2 7 0 3 4"), continued("9 0 3 4"));
  EXPECT_NE(continued("1 2 7 0 3 4"), continued("1 2 7 5 3 4"));
}

TEST_F(HubExportTest, TheLengthIsThatOfTraining) {
  ASSERT_EQ(exported("--format huggingface").code, 0);
  EXPECT_EQ(written("config.json").at("max_position_embeddings"), 17) << "a block and its start";
  EXPECT_EQ(written("tokenizer_config.json").at("model_max_length"), 17);
}

TEST_F(HubExportTest, WeightsHaveTheTypeThatIsAskedFor) {
  ASSERT_TRUE(ends(exported("--format huggingface --dtype bf16"), 0, "rounded to bfloat16"));
  EXPECT_EQ(written("config.json").at("dtype"), "bfloat16");
  for (const auto& [name, tensor] : training::read_safetensors(folder_ / "out/model.safetensors"))
    EXPECT_EQ(tensor.scalar_type(), torch::kBFloat16) << name;
}

TEST(HubGeneration, SaysHowOutputsWereSearchedFor) {
  const json config{{"pad_token_id", 0}, {"bos_token_id", 1}, {"eos_token_id", 2}};
  models::SearchOptions search{.beam = 4, .length_penalty = 0.6, .min_length = 3, .max_length = 50};
  EXPECT_EQ(hub_generation(search, config, {0, 1, 2, 3}), (json{{"pad_token_id", 0},
                                                                {"bos_token_id", 1},
                                                                {"eos_token_id", 2},
                                                                {"suppress_tokens", {0, 1}},
                                                                {"num_beams", 4},
                                                                {"length_penalty", 0.6},
                                                                {"early_stopping", true},
                                                                {"min_new_tokens", 3},
                                                                {"max_new_tokens", 50}}));
  search = {};
  search.sampling = models::RandomSampling{.temperature = 0.5, .top_k = 0, .top_p = 0.9};
  const json one_special{{"pad_token_id", nullptr}, {"bos_token_id", 7}, {"eos_token_id", 7}};
  const auto drawn = hub_generation(search, one_special, {3, 4, 5, 6, 7, 8, 9, 2});
  EXPECT_EQ(drawn.at("do_sample"), true);
  EXPECT_EQ(drawn.at("top_k"), 0) << "Transformers' default is 50";
  EXPECT_FALSE(drawn.contains("suppress_tokens")) << "the end must be written";
  EXPECT_FALSE(drawn.contains("num_beams"));
}

TEST(HubGeneration, NeitherOfMariansPaddingTokensIsWritten) {
  const json config{{"pad_token_id", 5}, {"bos_token_id", 5}, {"eos_token_id", 0}};
  EXPECT_EQ(hub_generation({}, config, {2, 3, 4, 5, 0, 1}).at("suppress_tokens"), json({4, 5}));
}

TEST(HubGeneration, NumbersThatNoTextHoldsAreNotWritten) {
  const json config{{"pad_token_id", 0}, {"bos_token_id", 1}, {"eos_token_id", 2}};
  EXPECT_EQ(hub_generation({}, config, {0, 1, 2, 3, 4, 5}, {3, 5}).at("suppress_tokens"),
            json({0, 1, 3, 5}));
}

TEST(HubGeneration, ADecoderBeyondT5sCacheHasNone) {
  json config{{"pad_token_id", 0}, {"bos_token_id", 1}, {"eos_token_id", 2}, {"num_layers", 2}};
  config["num_decoder_layers"] = 2;
  EXPECT_FALSE(hub_generation({}, config, {0, 1, 2}).contains("use_cache"));
  config["num_decoder_layers"] = 3;
  EXPECT_EQ(hub_generation({}, config, {0, 1, 2}).at("use_cache"), false);
}

template <class Options>
std::set<std::string> keys_of() {
  std::set<std::string> keys;
  const Options options;
  Options::fields(options, [&](std::string_view name, const auto&...) { keys.emplace(name); });
  return keys;
}

/// A new key of these options must be written, named on the card (hub_notes()) or added to those
/// that change nothing in what a folder computes. Keys of the model are compared one by one when
/// the family is chosen.
TEST(HubGeneration, KnowsEveryKeyOfDecodingAndRunningText) {
  using Keys = std::set<std::string>;
  EXPECT_EQ(keys_of<models::SearchOptions>(),
            (Keys{"beam", "length_penalty", "min_length", "max_length", "sampling", "max_ratio",
                  /* without effect on outputs: */ "batch", "draft"}));
  EXPECT_EQ(keys_of<models::RandomSampling>(),
            (Keys{"temperature", "top_k", "top_p", /* drawn anew: */ "random_seed"}));
  EXPECT_EQ(keys_of<data::Tokens>(), (Keys{"mask_documents", "vocabulary", "end_token", "block",
                                           /* what was read: */ "train", "validation", "test",
                                           "dtype", "evaluated_tokens"}));
  EXPECT_EQ(
      keys_of<data::Language>(),
      (Keys{"diffusion", "block", /* what was read and learned: */ "train", "validation", "test",
            "format", "columns", "held_out", "test_held_out", "masked", "max_line_bytes"}));
}

}  // namespace
}  // namespace ablate::exchange
