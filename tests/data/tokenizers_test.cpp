#include <gtest/gtest.h>

#include "data/text_encoder.h"

namespace ablate::data {
namespace {

const std::vector<Example> kPairs{{"one two", "eins zwei"}, {"two", "zwei"}};

TEST(TrainTokenizers, AJointOneKnowsBothSides) {
  const auto [source, target, labels] = train_tokenizers({.kind = tokenizer::Kind::word}, kPairs);
  EXPECT_EQ(source.sha256(), target.sha256());
  EXPECT_EQ(source.decode(source.encode("two zwei")), "two zwei");
}

TEST(TrainTokenizers, SeparateOnesKnowTheirSideAlone) {
  const auto [source, target, labels] =
      train_tokenizers({.kind = tokenizer::Kind::word, .joint = false}, kPairs);
  EXPECT_EQ(source.decode(source.encode("one two")), "one two");
  EXPECT_EQ(target.decode(target.encode("eins zwei")), "eins zwei");
  EXPECT_NE(source.decode(source.encode("zwei")), "zwei");
}

TEST(TrainTokenizers, OfLabelledTextKnowItsTextAlone) {
  const auto own =
      train_tokenizers_of_labelled({.kind = tokenizer::Kind::word},
                                   std::vector<Example>{{"a film", "good"}, {"no film", "bad"}});
  EXPECT_EQ(own.source.vocabulary_size(), 4 + 3);  // a, no, film
  EXPECT_EQ(own.source.sha256(), own.target.sha256());
  EXPECT_EQ(own.outputs(), 2);
}

}  // namespace
}  // namespace ablate::data
