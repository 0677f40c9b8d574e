#include <gtest/gtest.h>

#include "tests/says.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {
namespace {

constexpr auto kKinds = {Kind::bpe, Kind::unigram, Kind::character, Kind::word};

using Lines = std::vector<std::string>;

std::string refusal(const TokenizerOptions& options, const Lines& lines) {
  return refusal_of<TokenizerError>([&] { Tokenizer::train(options, lines); }, "trained");
}

int64_t unknown(const Tokenizer& model, std::string_view line) {
  const auto ids = model.encode(line);
  return std::count(ids.begin(), ids.end(), kUnk);
}

TEST(TrainingText, OfEveryShapeIsLearned) {
  const std::vector<std::pair<Lines, std::string>> cases{
      {{"a", "b a"}, "b a"},                            // very short lines
      {{std::string(140'000, 'x'), "ab", "ab"}, "ab"},  // a word longer than the library allows
      {{"ab \xe2\x96\x85 cd"}, "ab cd"},                // the library's mark of the unknown
      {{std::string("ab\0cd", 5)}, "ab cd"}};
  for (const auto kind : kKinds)
    for (const auto& [lines, learned] : cases)
      EXPECT_EQ(unknown(Tokenizer::train({.kind = kind}, lines), learned), 0) << learned;
}

TEST(TrainingText, ThatNormalisesToNothingIsRefused) {
  for (const auto kind : kKinds)
    for (const char* nothing :
         {"   ", "\xc2\xa0", "\xe2\x80\x8b", "\xe2\x96\x81\xe2\x96\x81", "\x01"})
      EXPECT_EQ(refusal({.kind = kind}, {nothing}),
                "a tokenizer needs text to learn from, and there is none");
}

TEST(Vocabulary, LargerThanTheTextSupportsBecomesTheLargestPossible) {
  for (const auto kind : kKinds) {
    const auto model =
        Tokenizer::train({.kind = kind, .vocabulary = 100'000}, Lines{"hello world"});
    EXPECT_LT(model.vocabulary_size(), 40);
    EXPECT_EQ(unknown(model, "hello world"), 0);
  }
}

TEST(Vocabulary, TooSmallForTheCharactersNamesTheSmallestThatHoldsThem) {
  for (const auto kind : {Kind::bpe, Kind::unigram})
    EXPECT_EQ(refusal({.kind = kind, .vocabulary = 8}, {"abcdefghijklm"}),
              "the text has more characters than a vocabulary of 8 tokens can hold; raise "
              "tokenizer.vocabulary to at least 18 or lower tokenizer.coverage");
  EXPECT_EQ(Tokenizer::train({.vocabulary = 18}, Lines{"abcdefghijklm"}).vocabulary_size(), 18);
}

TEST(Vocabulary, OfAWordModelHoldsEveryWordHoweverMany) {
  Lines lines;
  for (int i = 0; i < 9'000; ++i) lines.push_back("w" + std::to_string(i));
  EXPECT_EQ(Tokenizer::train({.kind = Kind::word}, lines).vocabulary_size(), 9'004);
}

TEST(Vocabulary, OfWholeWordsAndCharactersHoldsThoseThatAreCoveredAlone) {
  Lines lines(99, "aaa bbb");
  lines.push_back("aac bbb");
  for (const auto kind : {Kind::character, Kind::word}) {
    EXPECT_EQ(unknown(Tokenizer::train({.kind = kind}, lines), "aac"), 0);
    for (const auto vocabulary : {std::optional<int64_t>(), std::optional<int64_t>(5'000)}) {
      const auto model =
          Tokenizer::train({.kind = kind, .vocabulary = vocabulary, .coverage = 0.99}, lines);
      EXPECT_EQ(unknown(model, "aac"), 1);
      EXPECT_EQ(unknown(model, "aaa bbb"), 0);
    }
  }
}

TEST(Vocabulary, OfSixtyFourPiecesIsEnoughForNumberWords) {
  const Lines lines{"four hundred two", "vierhundertzwei", "twelve",        "zw\xc3\xb6lf",
                    "drei\xc3\x9fig",   "thirty",          "einundzwanzig", "twenty-one"};
  const auto model = Tokenizer::train({.vocabulary = 64}, lines);
  EXPECT_EQ(model.vocabulary_size(), 64);
  for (const auto& line : lines) EXPECT_EQ(model.decode(model.encode(line)), line);
}

}  // namespace
}  // namespace ablate::tokenizer
