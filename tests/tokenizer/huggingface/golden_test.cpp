#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "tests/tokenizer/golden_files.h"
#include "tokenizer/huggingface/tokenizer_json.h"

namespace ablate::tokenizer::huggingface {
namespace {

using nlohmann::json;

const std::string kGolden = "huggingface/golden/";

/// The bytes of texts.jsonl.
std::vector<std::string> texts() {
  std::vector<std::string> found;
  for (const auto& line : json_lines(kGolden + "texts.jsonl")) found.push_back(from_latin1(line));
  return found;
}

/// A tokenizer of whole texts with further parts.
TokenizerJson of_whole_texts(const char* parts) {
  auto file = json::parse(R"({"model": {"type": "WordLevel", "unk_token": "?",
                                        "vocab": {"?": 0, "a": 1, "b": 2, "  ": 3}}})");
  file.update(json::parse(parts));
  return TokenizerJson(file.dump());
}

/// Each kind is one tokenizer.json that PyPI's `tokenizers` trained or read (build_oracles.py).
class Golden : public testing::TestWithParam<const char*> {};

TEST_P(Golden, IdsAndTextsEqualThoseOfTokenizers) {
  const TokenizerJson tokenizer(content(kGolden + GetParam() + ".json"));
  const auto given = texts();
  const auto expected = json_lines(kGolden + GetParam() + ".jsonl");
  ASSERT_EQ(given.size(), 50);
  ASSERT_EQ(expected.size(), given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const auto ids = tokenizer.encode(given[i]);
    const auto framed = tokenizer.framed(ids);
    EXPECT_EQ(json(ids), expected[i][0]) << given[i];
    EXPECT_EQ(json(framed), expected[i][1]) << given[i];
    EXPECT_EQ(json(tokenizer.decode(framed)), expected[i][2]) << given[i];
    EXPECT_EQ(json(tokenizer.decode(framed, true)), expected[i][3]) << given[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Golden,
    testing::Values("gpt2", "legacy_gpt2", "roberta", "llama3", "qwen2", "gpt_neox", "o200k",
                    "deepseek", "llama2", "llama2_metaspace", "stripped_first", "bpe_fused",
                    "bpe_unfused", "bpe_of_words", "bpe_with_prefix", "bert", "bert_cased",
                    "bert_accents", "unigram", "unigram_bytes", "precompiled", "word_level",
                    "added_tokens", "digits", "digit", "fixed_length", "delimiter", "words",
                    "punctuation_removed", "punctuation_isolated",
                    "punctuation_merged_with_previous", "punctuation_merged_with_next",
                    "punctuation_contiguous", "split_removed", "split_isolated",
                    "split_merged_with_previous", "split_merged_with_next", "split_contiguous"),
    [](const auto& kind) { return std::string(kind.param); });

TEST(TokenizerJson, NamesItsTokens) {
  const TokenizerJson tokenizer(content(kGolden + "roberta.json"));
  EXPECT_EQ(tokenizer.vocabulary_size(), 601);
  EXPECT_EQ(tokenizer.token(2), "</s>");
  EXPECT_EQ(tokenizer.token(600), "<mask>");
  EXPECT_EQ(tokenizer.token(601), std::nullopt);
  EXPECT_EQ(tokenizer.token(-1), std::nullopt);
}

TEST(TokenizerJson, LeavesUnknownIdsOut) {
  const TokenizerJson tokenizer(content(kGolden + "gpt2.json"));
  auto ids = tokenizer.encode("the cat");
  ids.insert(ids.begin(), {-7, 1 << 30});
  EXPECT_EQ(tokenizer.decode(ids), "the cat");
}

TEST(TokenizerJson, ReplacesNothingInAnEmptyText) {
  const auto tokenizer = of_whole_texts(R"({
      "normalizer": {"type": "Sequence", "normalizers": [
          {"type": "Strip", "strip_left": true, "strip_right": true},
          {"type": "Replace", "pattern": {"Regex": "^"}, "content": "b"}]},
      "decoder": {"type": "Sequence", "decoders": [
          {"type": "Strip", "content": "a", "start": 1, "stop": 0},
          {"type": "Replace", "pattern": {"Regex": "^"}, "content": "-"}]}})");
  EXPECT_EQ(json(tokenizer.encode("  ")), json::array());
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{1}), "");
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{2}), "-b");
}

TEST(TokenizerJson, TakesSpacesForOneTokenAlone) {
  const auto tokenizer = of_whole_texts(R"({"added_tokens": [
      {"id": 2, "content": "b", "single_word": false, "lstrip": false, "rstrip": true,
       "normalized": false, "special": false},
      {"id": 3, "content": "  ", "single_word": false, "lstrip": true, "rstrip": false,
       "normalized": false, "special": false}]})");
  EXPECT_EQ(json(tokenizer.encode("b  a")), json::array({2, 1}));
  EXPECT_EQ(json(tokenizer.encode("a  a")), json::array({1, 3, 1}));
}

TEST(TokenizerJson, ManyThreadsEncodeAlike) {
  const TokenizerJson tokenizer(content(kGolden + "gpt2.json"));
  const auto given = texts();
  std::array<std::vector<std::vector<int32_t>>, 4> found;
  std::vector<std::thread> threads;
  for (auto& ids : found)
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round)
        for (const auto& text : given) ids.push_back(tokenizer.encode(text));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& ids : found) EXPECT_EQ(ids, found.front());
}

}  // namespace
}  // namespace ablate::tokenizer::huggingface
