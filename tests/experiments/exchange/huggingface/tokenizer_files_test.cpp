#include <sstream>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/export_huggingface.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/import_huggingface.h"
#include "experiments/exchange/huggingface/read_tokenizer.h"
#include "experiments/run/load_run.h"
#include "models/inference/search_options.h"
#include "tests/experiments/exchange/huggingface/family_folder.h"
#include "tests/says.h"
#include "tokenizer/special_tokens.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;
using tokenizer::Tokenizer;

std::string type_of(const std::string& name) {
  return families().at(name).at("config").at("model_type");
}

/// The words of these ids, up to a special one, which Transformers may write and a run does not.
std::string text_of(const json& ids, const json& config = {}) {
  std::string text;
  for (const auto& id : ids) {
    for (const auto* name : {"bos_token_id", "eos_token_id", "pad_token_id"})
      if (config.contains(name) && config[name] == id) return text;
    text += (text.empty() ? "w" : " w") + id.dump();
  }
  return text;
}

/// A post-processor that puts words around a text.
json around(const std::vector<int>& before, const std::vector<int>& behind) {
  auto single = json::array();
  auto tokens = json::object();
  const auto add = [&](int id) {
    const auto word = "w" + std::to_string(id);
    single.push_back({{"SpecialToken", {{"id", word}, {"type_id", 0}}}});
    tokens[word] = {{"id", word}, {"ids", {id}}, {"tokens", {word}}};
  };
  for (const int id : before) add(id);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (const int id : behind) add(id);
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", single},
          {"special_tokens", tokens}};
}

class TokenizerFiles : public FamilyFolder {
 protected:
  std::filesystem::path run() const { return folder() / "run"; }

  /// The model with words of its own, the last of which have names for BERT.
  void write_all(const std::string& name) const {
    write_family(name);
    write_text("tokenizer.json", words(kTokens).dump());
    auto config = json{{"unk_token", "w7"}, {"tokenizer_class", "PreTrainedTokenizerFast"}};
    if (type_of(name) == "bert")
      config.update({{"cls_token", "w3"}, {"sep_token", "w4"}, {"mask_token", "w5"}});
    write_text("tokenizer_config.json", config.dump());
  }
  void import() const {
    std::filesystem::remove_all(run());
    import_as("run");
  }
  /// The message with which the folder is refused; no run may be left.
  std::string refusal() const {
    std::string said;
    try {
      import();
    } catch (const std::runtime_error& error) {
      said = error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(run()));
    return said;
  }
};

std::vector<int32_t> in_file(const Tokenizer& tokenizer, const std::string& line) {
  std::vector<int32_t> ids;
  for (const auto id : tokenizer.encode(line)) ids.push_back(tokenizer.ids().theirs(id).value());
  return ids;
}

TEST_F(TokenizerFiles, OfEveryFamilyAreRead) {
  for (const auto& [name, family] : families().items()) {
    if (type_of(name) == "marian") continue;
    SCOPED_TRACE(name);
    write_all(name);
    import();
    const auto& tokenizer = run::load_run(run(), "").tokenizers.target;
    EXPECT_EQ(in_file(tokenizer, "w9 w20 w11"), (std::vector<int32_t>{9, 20, 11}));
    EXPECT_EQ(tokenizer.encode("cat"), std::vector<int32_t>{tokenizer::kUnk});
    EXPECT_EQ(tokenizer.ids().theirs(tokenizer::kUnk), 7);
    EXPECT_EQ(tokenizer.specials().mask, type_of(name) == "bert" ? std::optional(5) : std::nullopt);
  }
}

TEST_F(TokenizerFiles, WhatWasImportedIsExportedWithItsOwnIds) {
  for (const std::string name :
       {"gpt2", "gpt_neox", "llama", "smollm", "qwen2", "qwen3", "bert", "t5", "t5 1.1"}) {
    SCOPED_TRACE(name);
    write_all(name);
    import();
    const auto out = folder() / "out";
    std::filesystem::remove_all(out);
    export_huggingface({.run = run(), .to = out});
    EXPECT_EQ(training::read_bytes(out / "tokenizer.json"), words(kTokens).dump());
    const auto config = json::parse(training::read_bytes(out / "config.json"));
    const auto& given = families().at(name).at("config");
    for (const auto* id : {"vocab_size", "pad_token_id", "eos_token_id"}) {
      if (!given.value(id, json()).is_null()) {
        EXPECT_EQ(config.at(id), given.at(id)) << id;
      }
    }
    const auto tensors = training::read_safetensors(out / "model.safetensors");
    const auto family = config.at("model_type").get<std::string>();
    const auto map = family_map(family.starts_with("qwen") ? "llama" : family);
    const auto embedding = map.tensors.at("embedding").names.front();
    EXPECT_TRUE(torch::equal(tensors.at(embedding), tensors_of(families().at(name)).at(embedding)));
  }
}

TEST_F(TokenizerFiles, TheMapOfSpecialTokensOfAnOlderFolderCountsFirst) {
  const auto unknown = [&] {
    import();
    return run::load_run(run(), "").tokenizers.target.ids().theirs(tokenizer::kUnk);
  };
  write_all("llama");
  write_text("special_tokens_map.json", R"({"unk_token": "w8"})");
  EXPECT_EQ(unknown(), 8);
  write_text("tokenizer_config.json", R"({"unk_token": "w7", "added_tokens_decoder": {}})");
  EXPECT_EQ(unknown(), 7);
}

TEST_F(TokenizerFiles, OfMarianNumberThePiecesOfTwoModels) {
  const std::vector<std::string> here{"abc abd", "abc"}, there{"xyz xyw", "xyz"};
  const auto source = Tokenizer::train({.vocabulary = 12}, here),
             target = Tokenizer::train({.vocabulary = 12}, there);
  auto vocabulary = json{{"</s>", 0}, {"<unk>", 1}, {"<pad>", kTokens - 1}};
  for (const auto* one : {&source, &target})
    for (const auto& line : {"abc abd", "xyz xyw"})
      for (const auto& piece : one->tokens(line))
        if (!vocabulary.contains(piece)) vocabulary[piece] = vocabulary.size() - 1;
  for (int id = static_cast<int>(vocabulary.size()) - 1; id < kTokens - 1; ++id)
    vocabulary["rest" + std::to_string(id)] = id;
  write_family("marian");
  write_text("source.spm", source.bytes());
  write_text("target.spm", target.bytes());
  write_text("vocab.json", vocabulary.dump());
  import();
  const auto loaded = run::load_run(run(), "").tokenizers;
  std::vector<int32_t> expected;
  for (const auto& piece : source.tokens("abc abd")) expected.push_back(vocabulary.at(piece));
  EXPECT_EQ(in_file(loaded.source, "abc abd"), expected);
  EXPECT_EQ(loaded.target.decode(loaded.target.encode("xyz xyw")), "xyz xyw");
  export_huggingface({.run = run(), .to = folder() / "out"});
  EXPECT_EQ(json::parse(training::read_bytes(folder() / "out/vocab.json")), vocabulary);
  EXPECT_EQ(training::read_bytes(folder() / "out/target.spm"), target.bytes());
}

TEST_F(TokenizerFiles, ATokenizerOfAnotherVocabularyIsRefused) {
  write_all("llama");
  write_text("tokenizer.json", words(30).dump());
  EXPECT_EQ(refusal(), "the model has 23 tokens, and its tokenizer 30");
  auto config = families().at("llama").at("config");
  config["eos_token_id"] = 99;
  write_all("llama");
  write_text("config.json", config.dump());
  EXPECT_EQ(refusal(), "the special token 99 is outside of the 23 tokens");
  config["eos_token_id"] = -1;
  write_text("config.json", config.dump());
  EXPECT_TRUE(refusal().ends_with("eos_token_id is not the id of a token")) << refusal();
}

TEST_F(TokenizerFiles, WhatCannotBeReadIsNamed) {
  write_all("llama");
  write_text("tokenizer.json", words(kTokens).dump().substr(0, 100));
  EXPECT_TRUE(says(refusal(), "not a usable tokenizer.json: it is cut"));
  auto odd = words(kTokens);
  odd["normalizer"] = {{"type", "Rot13"}};
  write_text("tokenizer.json", odd.dump());
  EXPECT_TRUE(says(refusal(), "normalizer is the normalizer 'Rot13', which is not supported"));
  write_text("tokenizer.json", words(kTokens).dump());
  write_text("tokenizer_config.json", R"({"eos_token": "</s>"})");
  EXPECT_TRUE(says(refusal(), "has no token '</s>', which is the eos_token of its configuration"));
  write_text("tokenizer_config.json", R"({"added_tokens_decoder": {"23": {"content": "<new>"}}})");
  EXPECT_TRUE(
      says(refusal(), "has the token '<new>' with the id 23, and the tokenizer's file lacks"));
  std::filesystem::remove(folder() / "tokenizer_config.json");
  std::filesystem::remove(folder() / "tokenizer.json");
  EXPECT_TRUE(says(refusal(), "has none of tokenizer.json, source.spm, tokenizer.model"));
}

TEST_F(TokenizerFiles, AFieldThatWouldChangeTheFileIsNamed) {
  write_all("llama");
  auto bert = words(kTokens);
  bert["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", true},
                        {"handle_chinese_chars", true},
                        {"strip_accents", nullptr},
                        {"lowercase", true}};
  write_text("tokenizer.json", bert.dump());
  write_text("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_TRUE(says(refusal(), "has do_lower_case: false, but tokenizer.json not"));
  for (const std::string field : {"strip_accents", "tokenize_chinese_chars"}) {
    write_text("tokenizer_config.json", json{{field, false}}.dump());
    EXPECT_TRUE(says(refusal(), "has " + field + ": false, but tokenizer.json not"));
  }
  for (const json& same : {json(nullptr), json(true)}) {  // null: as do_lower_case
    write_text("tokenizer_config.json", json{{"strip_accents", same}}.dump());
    EXPECT_NO_THROW(import());
    std::filesystem::remove_all(run());
  }
}

TEST_F(TokenizerFiles, ATokenThatTheFileDoesNotAddIsNamed) {
  write_all("llama");
  auto file = words(kTokens);
  file["added_tokens"] = json::array({{{"id", 8},
                                       {"content", "w8"},
                                       {"single_word", false},
                                       {"lstrip", false},
                                       {"rstrip", false},
                                       {"normalized", false},
                                       {"special", true}}});
  write_text("tokenizer.json", file.dump());
  for (const auto* field : {"additional_special_tokens", "extra_special_tokens"}) {
    write_text("tokenizer_config.json", json{{field, json::array({"w8", "w9"})}}.dump());
    EXPECT_TRUE(says(refusal(), "names the token 'w9', which is not among the added_tokens"));
  }
  write_text("tokenizer_config.json", R"({"bos_token": "w1", "cls_token": "w9"})");
  EXPECT_TRUE(says(refusal(), "names the token 'w9'"));
  write_text("tokenizer_config.json",
             R"({"added_tokens_decoder": {"8": {"content": "w8", "single_word": true}}})");
  EXPECT_TRUE(says(refusal(), "has single_word: true for the token 'w8', but tokenizer.json not"));
  write_text("tokenizer_config.json",
             R"({"bos_token": "w1", "additional_special_tokens": ["w8", "w1"]})");
  write_text("added_tokens.json", R"({"w8": 8})");
  EXPECT_NO_THROW(import());
  std::filesystem::remove_all(run());
  write_text("added_tokens.json", R"({"w10": 10})");
  EXPECT_TRUE(says(refusal(), "names the token 'w10'"));
}

TEST_F(TokenizerFiles, ATokenThatTheSentencePieceModelLacksIsNamed) {
  const std::vector<std::string> lines{"abc abd", "abc"};
  write_family("llama");
  write_text("tokenizer.model", Tokenizer::train({.vocabulary = 12}, lines).bytes());
  EXPECT_NO_THROW(import());
  std::filesystem::remove_all(run());
  write_text("added_tokens.json", R"({"</s>": 2, "<x>": 12})");
  EXPECT_TRUE(says(refusal(), "names the token '<x>', which its SentencePiece model lacks"));
}

/// T5Tokenizer reads "<extra_id_0>" as one token, which the model's file does not have.
TEST_F(TokenizerFiles, OfT5WithoutTheTokensThatItsClassAddsAreRefused) {
  const std::vector<std::string> lines{"abc abd", "abc"};
  write_text("spiece.model", Tokenizer::train({.vocabulary = 12}, lines).bytes());
  const auto refusal_with = [&](const char* config) {
    write_text("tokenizer_config.json", config);
    return refusal_of<tokenizer::TokenizerError>([&] { read_tokenizer(folder()); });
  };
  EXPECT_TRUE(says(refusal_with(R"({"model_max_length": 512})"),
                   "the token '<extra_id_0>', which its SentencePiece model lacks"));
  EXPECT_EQ(refusal_with(R"({"extra_ids": 0})"), "");
}

TEST_F(TokenizerFiles, SpacesBeforePunctuationGoAsTheConfigurationSays) {
  for (const bool cleans : {false, true}) {
    write_family("t5");
    auto file = words(kTokens);
    file["model"]["vocab"].erase("w9");
    file["model"]["vocab"]["."] = 9;
    write_text("tokenizer.json", file.dump());
    write_text("tokenizer_config.json",
               json{{"unk_token", "w7"}, {"clean_up_tokenization_spaces", cleans}}.dump());
    import();
    const auto text = run::load_run(run(), "").tokenizers.target;
    EXPECT_EQ(text.decode(text.encode("w10 . w11")), cleans ? "w10. w11" : "w10 . w11");
    std::filesystem::remove_all(folder() / "out");
    export_huggingface({.run = run(), .to = folder() / "out"});
    const auto config = json::parse(training::read_bytes(folder() / "out/tokenizer_config.json"));
    EXPECT_EQ(config.value("clean_up_tokenization_spaces", false), cleans);
  }
}

TEST_F(TokenizerFiles, AModelContinuesWhatItsTokenizerWrites) {
  for (const auto& [name, family] : families().items()) {
    if (!family.contains("continued") || family.contains("source")) continue;
    SCOPED_TRACE(name);
    write_all(name);
    import();
    const auto loaded = run::load_run(run(), "");
    EXPECT_EQ(loaded.format.start_token(loaded.tokenizers), std::nullopt);
    const auto translator = loaded.translator();
    const std::vector<std::string> prompts{text_of({5, 3, 8}), text_of({9, 5, 3, 8})};
    const auto continued = [&](size_t count) {
      return training::translate_all({&translator, 1},
                                     {.lines = std::span(prompts).first(count), .one_line = false},
                                     {.beam = 1, .max_length = 4})[0][0]
          .text;
    };
    const auto expected = " " + text_of(family.at("continued"), family.at("config"));
    EXPECT_TRUE(continued(1).starts_with(expected)) << continued(1) << " for " << expected;
    EXPECT_EQ(continued(2), continued(1));  // read beside a longer one
  }
}

TEST_F(TokenizerFiles, AModelWithoutAStartTokenIsExportedAsItReads) {
  for (const std::string name : {"gpt2", "mamba2", "bert"}) {
    SCOPED_TRACE(name);
    write_all(name);
    import();
    std::ostringstream messages;
    export_torchscript({.run = run(), .to = folder() / (name + ".pt")}, messages);
    EXPECT_GT(verify_torchscript({.file = folder() / (name + ".pt"), .trusted = true}).inputs, 0);
  }
}

TEST_F(TokenizerFiles, WhatStandsAroundATextIsWhatTheFileSays) {
  const auto read = [&](const std::string& name, const json& processor) {
    write_all(name);
    auto file = words(kTokens);
    file["post_processor"] = processor;
    write_text("tokenizer.json", file.dump());
    import();
    const auto loaded = run::load_run(run(), "");
    std::vector<int32_t> ids;
    if (loaded.format.continues_text() && loaded.format.start_token(loaded.tokenizers))
      ids.push_back(tokenizer::kBos);
    const auto text = loaded.format.encode_source("w9 w12", loaded.tokenizers)->ids;
    ids.insert(ids.end(), text.begin(), text.end());
    for (auto& id : ids) id = loaded.tokenizers.source.ids().theirs(id).value();
    return ids;
  };
  using Ids = std::vector<int32_t>;
  EXPECT_EQ(read("llama", nullptr), (Ids{9, 12}));
  EXPECT_EQ(read("llama", around({1}, {})), (Ids{1, 9, 12}));
  EXPECT_EQ(read("llama", around({4}, {})), (Ids{4, 9, 12}));  // not the one of config.json
  EXPECT_EQ(read("opt", around({2}, {})), (Ids{2, 9, 12}));
  EXPECT_EQ(read("bert", nullptr), (Ids{9, 12}));
  EXPECT_EQ(read("bert", around({3}, {4})), (Ids{3, 9, 12, 4}));
  EXPECT_EQ(read("t5", nullptr), (Ids{9, 12}));
  EXPECT_EQ(read("t5", around({}, {1})), (Ids{9, 12, 1}));
  write_all("llama");
  auto file = words(kTokens);
  file["post_processor"] = around({1}, {2});
  write_text("tokenizer.json", file.dump());
  EXPECT_TRUE(says(refusal(), "ends every text with the end token"));
  file["post_processor"] = around({1, 4}, {});
  write_text("tokenizer.json", file.dump());
  EXPECT_TRUE(says(refusal(), "puts the tokens 1, 4 before a text"));
  file["post_processor"]["single"] = json::array();
  write_text("tokenizer.json", file.dump());
  EXPECT_TRUE(says(refusal(), "post_processor leaves the text out"));
}

/// OPT reads the end token before a text, as its start; GPT-2 reads no start, so that only the end
/// token's weights are ever used.
TEST_F(TokenizerFiles, OneTokenThatTrainingHasMadeTwoIsWrittenIfOnlyOneOfThemIsRead) {
  const auto exported = [&](const char* family, const json& framing,
                            const char* weight = "embedding", int32_t row = tokenizer::kBos) {
    write_all(family);
    auto file = words(kTokens);
    file["post_processor"] = framing;
    write_text("tokenizer.json", file.dump());
    import();
    auto loaded = run::load_run(run(), "");
    auto weights = training::weights_of(*loaded.model);
    const torch::NoGradGuard no_grad;
    weights.at(weight)[row] += 1;
    std::filesystem::remove_all(run());
    run::write_new_run(run(), {.experiment = loaded.experiment,
                               .tokenizers = loaded.tokenizers,
                               .weights = weights,
                               .environment = {{"data_folder", "."}},
                               .files = {}});
    const auto out = folder() / family;
    return refusal_of<UsageError>([&] { export_huggingface({.run = run(), .to = out}); });
  };
  EXPECT_TRUE(says(exported("opt", around({2}, {})), "training has made two of them"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "opt"));
  EXPECT_EQ(exported("gpt2", nullptr), "");
  EXPECT_TRUE(std::filesystem::exists(folder() / "gpt2/model.safetensors"));
  EXPECT_TRUE(says(exported("gpt2", nullptr, "output_bias", tokenizer::kEos),
                   "train it with training.freeze: [output_bias]"));
}

}  // namespace
}  // namespace ablate::exchange
