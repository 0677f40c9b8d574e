#include <gtest/gtest.h>

#include "tests/tokenizer/golden_files.h"
#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {
namespace {

Tokenizer trained(const TokenizerOptions& options) {
  return Tokenizer::train(options,
                          std::vector<std::string>{"dog tree red", "d\u00e9j\u00e0 vu..."});
}

TEST(NormalForm, IsOneForAllSpellingsThatATokenizerWritesAsOne) {
  const auto tokenizer = trained({.kind = Kind::character});
  const auto form = normal_form(tokenizer, "dog tree");
  for (const char* spelling : {"dog  tree", "dog tree ", " dog tree", "dog\u00a0tree"})
    EXPECT_EQ(normal_form(tokenizer, spelling), form) << spelling;
  EXPECT_EQ(normal_form(tokenizer, "vu\u2026"), normal_form(tokenizer, "vu..."));
  EXPECT_EQ(normal_form(tokenizer, "de\u0301ja\u0300"), normal_form(tokenizer, "d\u00e9j\u00e0"));
  EXPECT_NE(normal_form(tokenizer, "dogtree"), form);
}

TEST(NormalForm, OfBytesIsTheTextItself) {
  const auto tokenizer = trained({.kind = Kind::byte});
  for (const char* text : {"dog  tree ", "de\u0301j\u00e0\u2026"})
    EXPECT_EQ(normal_form(tokenizer, text), text);
}

TEST(Fidelity, TellsWhatIsNormalisedFromWhatIsLost) {
  const auto tokenizer = trained({.kind = Kind::character});
  const auto whole = fidelity(tokenizer, "dog tree");
  EXPECT_FALSE(whole.altered || whole.lost);
  EXPECT_EQ(whole.unknown_tokens, 0);
  const auto spaced = fidelity(tokenizer, "dog  tree");
  EXPECT_TRUE(spaced.altered);
  EXPECT_FALSE(spaced.lost);
  const auto foreign = fidelity(tokenizer, "dog \u732b\u732b");
  EXPECT_TRUE(foreign.altered && foreign.lost);
  EXPECT_EQ(foreign.unknown_tokens, 1) << "a run of unknown characters is one token";
  EXPECT_EQ(foreign.hidden_bytes, 6);
}

TEST(Fidelity, CountsTheBytesOfUnknownWordsWithTheirSpaces) {
  const auto tokenizer = trained({.kind = Kind::word});
  const auto found = fidelity(tokenizer, "dog sees cats tree");
  EXPECT_EQ(found.unknown_tokens, 1);
  EXPECT_EQ(found.hidden_bytes, 10) << "of ' sees cats'";
}

/// A tokenizer.json with this model, which divides texts at spaces and knows "a" and "dog".
Tokenizer of_json(const std::string& model, const std::string& decoder = "null") {
  return Tokenizer::foreign(R"({"added_tokens": [{"id": 0, "content": "[UNK]", "single_word": false,
      "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
      "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": )" +
                                decoder + R"(, "model": )" + model + "}",
                            {.specials = {.unk = 0}});
}

TEST(Fidelity, KnowsWhatUnknownTokensOfATokenizerJsonStandFor) {
  const auto words = of_json(
      R"({"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "a": 1, "dog": 2}})");
  const auto parts = of_json(
      R"({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
          "max_input_chars_per_word": 100,
          "vocab": {"[UNK]": 0, "a": 1, "dog": 2, "##s": 3, "incompre": 4}})",
      R"({"type": "WordPiece", "prefix": "##", "cleanup": false})");
  for (const auto& tokenizer : {words, parts}) {
    EXPECT_EQ(tokenizer.tokens("a incomprehensible dog")[1], "incomprehensible");
    const auto found = fidelity(tokenizer, "a incomprehensible dog");
    EXPECT_EQ(found.unknown_tokens, 1);
    EXPECT_EQ(found.hidden_bytes, 16) << "and not the five of [UNK]";
    EXPECT_TRUE(found.altered && found.lost);
    EXPECT_EQ(normal_form(tokenizer, "a  incomprehensible dog"), "a incomprehensible dog");
    EXPECT_NE(normal_form(tokenizer, "a cat"), normal_form(tokenizer, "a"));
  }
}

TEST(Fidelity, KnowsWhatUnknownPartsOfAWordStandFor) {
  const auto merges = of_json(
      R"({"type": "BPE", "unk_token": "[UNK]", "fuse_unk": true, "merges": ["a b"],
          "vocab": {"[UNK]": 0, "a": 1, "b": 2, "ab": 3}})",
      R"({"type": "Fuse"})");
  const auto unigram = of_json(
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["[UNK]", 0], ["a", -2], ["b", -2],
                                                    ["ab", -1]]})",
      R"({"type": "Fuse"})");
  for (const auto& tokenizer : {merges, unigram}) {
    const auto tokens = tokenizer.tokens("ab\u732b\u732baxb");
    EXPECT_EQ(tokens, (std::vector<std::string>{"ab", "\u732b\u732b", "a", "x", "b"}));
    const auto found = fidelity(tokenizer, "ab\u732b\u732baxb");
    EXPECT_EQ(found.unknown_tokens, 2);
    EXPECT_EQ(found.hidden_bytes, 7);
    EXPECT_TRUE(found.lost);
  }
  const auto unfused = of_json(
      R"({"type": "BPE", "unk_token": "[UNK]", "merges": [], "vocab": {"[UNK]": 0, "a": 1}})");
  EXPECT_EQ(unfused.tokens("xay"), (std::vector<std::string>{"x", "a", "y"}));
}

TEST(Fidelity, CountsWhatATokenizerWithoutAnUnknownTokenLeavesOut) {
  const auto tokenizer =
      of_json(R"({"type": "BPE", "merges": [], "vocab": {"[UNK]": 0, "a": 1, "b": 2}})",
              R"({"type": "Fuse"})");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("zab")), "ab");
  EXPECT_EQ(tokenizer.tokens("zab"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tokenizer.left_out("zab\u732b"), "z\u732b");
  const auto found = fidelity(tokenizer, "zab\u732b");
  EXPECT_EQ(found.hidden_bytes, 4);
  EXPECT_EQ(found.unknown_tokens, 1) << "one sign ends the spelling";
  EXPECT_TRUE(found.lost);
  EXPECT_NE(normal_form(tokenizer, "zab"), normal_form(tokenizer, "ab"));
}

TEST(Fidelity, CountsNoMarksOfPartsAndEndsAmongTheBytes) {
  const auto ends = of_json(
      R"({"type": "BPE", "unk_token": "[UNK]", "end_of_word_suffix": "</w>", "merges": [],
          "vocab": {"[UNK]": 0, "a": 1, "a</w>": 2}})",
      R"({"type": "BPEDecoder", "suffix": "</w>"})");
  EXPECT_EQ(ends.tokens("xay a"), (std::vector<std::string>{"x", "a", "y\u2581", "a</w>"}));
  EXPECT_EQ(fidelity(ends, "xay a").hidden_bytes, 3) << "of 'x' and 'y '";
  EXPECT_EQ(normal_form(ends, "xay  xy"), "xay xy");
  const auto parts = of_json(
      R"({"type": "BPE", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
          "fuse_unk": true, "merges": [], "vocab": {"[UNK]": 0, "a": 1}})",
      R"({"type": "WordPiece", "prefix": "##", "cleanup": false})");
  EXPECT_EQ(parts.tokens("axyz"), (std::vector<std::string>{"a", "xyz"}));
  EXPECT_EQ(fidelity(parts, "axyz").hidden_bytes, 3);
  EXPECT_EQ(normal_form(parts, "axyz  a"), "axyz a");
}

TEST(Fidelity, CountsEachByteThatIsLeftOutOnce) {
  const auto tokenizer = Tokenizer::foreign(
      R"({"added_tokens": [], "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
          "decoder": {"type": "ByteLevel"},
          "model": {"type": "BPE", "merges": [], "vocab": {"a": 0, "\u00c3": 1}}})",
      {});
  EXPECT_EQ(fidelity(tokenizer, "a\u00fc\u00fc").hidden_bytes, 2) << "their first ones are known";
}

TEST(Fidelity, OfATokenizerJsonTellsTokensAsTheyAreEncoded) {
  for (const char* name : {"bert", "unigram", "bpe_fused", "bpe_unfused", "bpe_with_prefix",
                           "word_level", "llama2", "gpt2"}) {
    const auto tokenizer =
        Tokenizer::foreign(content(std::string("huggingface/golden/") + name + ".json"), {});
    for (const auto& line : json_lines("huggingface/golden/texts.jsonl")) {
      const auto text = from_latin1(line);
      EXPECT_EQ(tokenizer.tokens(text).size(), tokenizer.encode(text).size()) << name << text;
    }
  }
}

}  // namespace
}  // namespace ablate::tokenizer
