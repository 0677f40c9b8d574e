#include "data/text_encoder.h"

#include <gtest/gtest.h>

#include "tests/says.h"

namespace ablate::data {
namespace {

std::vector<Example> examples() {
  return {{"the unhappiest of the unhappy", "happier and happiest"},
          {"the unhappiest of the unhappy", "happier and happiest"},
          {"a kinder, gentler kindness", "the unhappiest of the unhappy"}};
}

Tokenizers bpe() {
  return train_tokenizers({.kind = tokenizer::Kind::bpe, .vocabulary = 60}, examples());
}

TEST(DroppedMerges, DependOnSeedEpochSideAndPlaceAlone) {
  const auto tokenizers = bpe();
  const std::string line = examples()[0].source;
  const auto ids = [&](uint64_t seed, int64_t epoch, size_t index) {
    const DroppedMerges merges(tokenizers, {.share = 0.5, .seed = seed});
    return merges.encoders(epoch).source(index, line);
  };
  const auto first = ids(1, 0, 0);
  EXPECT_EQ(ids(1, 0, 0), first);
  EXPECT_NE(ids(2, 0, 0), first);
  EXPECT_NE(ids(1, 1, 0), first);
  EXPECT_NE(ids(1, 0, 1), first);
  const DroppedMerges merges(tokenizers, {.share = 0.5, .seed = 1});
  EXPECT_NE(merges.encoders(0).target(0, line), first);
}

TEST(DroppedMerges, OfAShareOfZeroAreNone) {
  const auto tokenizers = bpe();
  const DroppedMerges merges(tokenizers, {.share = 0, .seed = 1});
  for (const auto& example : examples())
    EXPECT_EQ(merges.encoders(3).source(7, example.source),
              encoders_of(tokenizers).source(0, example.source));
}

TEST(DroppedMerges, LeaveClassesAlone) {
  const std::vector<Example> labelled{{"a kinder word", "good"}, {"an unhappy word", "bad"}};
  const Tokenizers tokenizers{bpe().source, bpe().source, Labels(labelled)};
  const DroppedMerges merges(tokenizers, {.share = 0.5, .seed = 1});
  EXPECT_EQ(merges.encoders(0).target(0, "bad"), std::vector<int32_t>{0});
  EXPECT_EQ(merges.encoders(0).target(0, "good"), std::vector<int32_t>{1});
  EXPECT_EQ(refusal_of<DataError>([&] { merges.encoders(0).target(2, "fine"); }),
            "example 3: 'fine' is not one of the 2 classes bad, good");
}

TEST(DroppedMerges, NeedThemOnBothSidesOfText) {
  const auto words = train_tokenizers({.kind = tokenizer::Kind::word}, examples()).target;
  EXPECT_THROW(DroppedMerges({bpe().source, words}, {.share = 0.5, .seed = 1}),
               tokenizer::TokenizerError);
  EXPECT_THROW(DroppedMerges({words, bpe().target}, {.share = 0.5, .seed = 1}),
               tokenizer::TokenizerError);
}

}  // namespace
}  // namespace ablate::data
