#include "data/tokenizers.h"

#include <gtest/gtest.h>

namespace ablate::data {
namespace {

const std::vector<Example> kPairs{{"one two", "eins zwei"}, {"two", "zwei"}};

TEST(TrainTokenizers, AJointOneKnowsBothSides) {
  const auto [source, target] = train_tokenizers({.kind = tokenizer::Kind::word}, kPairs);
  EXPECT_EQ(source.sha256(), target.sha256());
  EXPECT_EQ(source.decode(source.encode("two zwei")), "two zwei");
}

TEST(TrainTokenizers, SeparateOnesKnowTheirSideAlone) {
  const auto [source, target] =
      train_tokenizers({.kind = tokenizer::Kind::word, .joint = false}, kPairs);
  EXPECT_EQ(source.decode(source.encode("one two")), "one two");
  EXPECT_EQ(target.decode(target.encode("eins zwei")), "eins zwei");
  EXPECT_NE(source.decode(source.encode("zwei")), "zwei");
}

TEST(TrainLabelTokenizer, EveryClassIsOneToken) {
  const auto classes =
      train_label_tokenizer(std::vector<Example>{{"a film", "Good"}, {"no film", "not-good"}});
  for (const std::string name : {"Good", "not-good"}) {
    EXPECT_EQ(classes.encode(name).size(), 1U);
    EXPECT_EQ(classes.decode(classes.encode(name)), name);
  }
}

}  // namespace
}  // namespace ablate::data
