#include <gtest/gtest.h>

#include "data/augmentation.h"

namespace ablate::data {
namespace {

using Ids = std::vector<int32_t>;

TEST(Concatenate, ClosesEveryTextWithTheEndTokenAlsoAnEmptyOne) {
  const auto letters =
      tokenizer::Tokenizer::train({.kind = tokenizer::Kind::character,
                                   .normalization = tokenizer::Normalization::identity,
                                   .spaces = tokenizer::Spaces::exact},
                                  std::vector<std::string>{"abc"});
  const auto a = letters.encode("a").at(0), b = letters.encode("b").at(0);
  const auto encode = [&](size_t, std::string_view text) { return letters.encode(text); };
  EXPECT_EQ(concatenate(std::vector<Example>{{{}, "ab"}, {{}, ""}, {{}, "b"}}, encode),
            (Ids{a, b, tokenizer::kEos, tokenizer::kEos, b, tokenizer::kEos}));
}

TEST(Chunk, ABlockBeginsWithTheLastIdOfTheOneBefore) {
  const auto blocks = chunk(Ids{11, 12, 13, 14, 15, 16}, {.block = 2});
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].target, (Ids{11, 12, 13}));
  EXPECT_EQ(blocks[1].target, (Ids{13, 14, 15}));
  EXPECT_EQ(blocks[2].target, (Ids{15, 16}));
  for (const auto& block : blocks) {
    EXPECT_EQ(block.prompt_length, 1);
    EXPECT_TRUE(block.source.empty());
  }
}

TEST(Chunk, AMaskedBlockIsSourceAndTargetBehindTheStartToken) {
  const auto blocks = chunk(Ids{11, 12, 13}, {.block = 2, .masked = true});
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].target, (Ids{kStartToken, 11, 12}));
  EXPECT_EQ(blocks[1].target, (Ids{kStartToken, 13}));
  for (const auto& block : blocks) EXPECT_EQ(block.source, block.target);
}

TEST(Chunk, HasNoStartTokenIfTheTokenizerWritesNone) {
  const auto masked = chunk(Ids{11, 12, 13}, {.block = 2, .masked = true, .started = false});
  EXPECT_EQ(masked[0].source, (Ids{11, 12}));
  EXPECT_EQ(masked[0].target, (Ids{11, 12}));
  EXPECT_EQ(masked[0].prompt_length, 0);
  const auto blocks = chunk(Ids{11, 12, 13}, {.block = 2, .started = false});
  EXPECT_FALSE(blocks[0].started);
}

TEST(Chunk, TheFirstBlockIsAsLongAsTheOffset) {
  const Ids text{11, 12, 13, 14, 15, 16};
  const auto blocks = chunk(text, {.block = 3, .offset = 1});
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].target, (Ids{11, 12}));
  EXPECT_EQ(blocks[1].target, (Ids{12, 13, 14, 15}));
  EXPECT_EQ(blocks[2].target, (Ids{15, 16}));
  const auto masked = chunk(text, {.block = 3, .masked = true, .offset = 1});
  ASSERT_EQ(masked.size(), 3U);
  EXPECT_EQ(masked[0].target, (Ids{kStartToken, 11}));
  EXPECT_EQ(masked[1].target, (Ids{kStartToken, 12, 13, 14}));
  EXPECT_EQ(masked[2].target, (Ids{kStartToken, 15, 16}));
}

}  // namespace
}  // namespace ablate::data
