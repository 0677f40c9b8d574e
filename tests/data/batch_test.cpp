#include "data/batch.h"

#include <gtest/gtest.h>

#include "data/corpus.h"

namespace ablate::data {
namespace {

TEST(Collate, PadsAndShiftsAsTheDecoderNeeds) {
  const std::vector<EncodedExample> two{{{7, 2}, {8, 9, 2}}, {{5, 6, 2}, {4, 2}}};
  const auto batch = collate(two, std::vector<int64_t>{0, 1});
  EXPECT_EQ(batch.source, (std::vector<int64_t>{7, 2, 0, 5, 6, 2}));
  EXPECT_EQ(batch.target_in, (std::vector<int64_t>{1, 8, 9, 1, 4, 0}));
  EXPECT_EQ(batch.target_out, (std::vector<int64_t>{8, 9, 2, 4, 2, 0}));
  EXPECT_EQ(batch.tokens, 5);
}

TEST(Collate, WhatIsReadOfASequenceIsNotPredicted) {
  const std::vector<EncodedExample> two{{{}, {7, 8, 2, 5, 2}, 3}, {{}, {9, 2, 6, 4, 2}, 2}};
  const auto batch = collate(two, std::vector<int64_t>{0, 1});
  EXPECT_EQ(batch.source_length, 0);
  EXPECT_EQ(batch.target_in, (std::vector<int64_t>{1, 7, 8, 2, 5, 1, 9, 2, 6, 4}));
  EXPECT_EQ(batch.target_out, (std::vector<int64_t>{0, 0, 0, 5, 2, 0, 0, 6, 4, 2}));
  EXPECT_EQ(batch.tokens, 5);
}

TEST(Collate, WithoutAStartTokenTheFirstIdIsReadFirst) {
  const std::vector<EncodedExample> two{
      {.target = {11, 12, 2, 13, 2}, .prompt_length = 3, .started = false},
      {.target = {11, 2}, .prompt_length = 1, .started = false}};
  const auto batch = collate(two, std::vector<int64_t>{0, 1});
  EXPECT_EQ(batch.target_in, (std::vector<int64_t>{11, 12, 2, 13, 11, 0, 0, 0}));
  EXPECT_EQ(batch.target_out, (std::vector<int64_t>{0, 0, 13, 2, 2, 0, 0, 0}));
  EXPECT_EQ(batch.tokens, 3);
  const std::vector<EncodedExample> one{{.target = {2}, .prompt_length = 1, .started = false}};
  EXPECT_THROW(collate(one, std::vector<int64_t>{0}), DataError);
}

TEST(Collate, RefusesASideWithoutItsEndToken) {
  const std::vector<EncodedExample> no_target{{{5, 2}, {}}}, no_source{{{}, {5, 2}}};
  EXPECT_THROW(collate(no_target, std::vector<int64_t>{0}), DataError);
  EXPECT_THROW(collate(no_source, std::vector<int64_t>{0}), DataError);
}

TEST(FirstTargets, CutsEveryRowAndCountsWhatIsLeft) {
  const std::vector<EncodedExample> two{{{7, 2}, {8, 9, 4, 2}}, {{5, 6, 2}, {4, 2}}};
  const auto whole = collate(two, std::vector<int64_t>{0, 1});
  const auto cut = first_targets(whole, 3);
  EXPECT_EQ(cut.target_in, (std::vector<int64_t>{1, 8, 9, 1, 4, 0}));
  EXPECT_EQ(cut.target_out, (std::vector<int64_t>{8, 9, 4, 4, 2, 0}));
  EXPECT_EQ(cut.target_length, 3);
  EXPECT_EQ(cut.tokens, 5);
  EXPECT_EQ(cut.source, whole.source);
  EXPECT_EQ(first_targets(whole, 1).tokens, 2);
  EXPECT_EQ(first_targets(whole, 4).target_out, whole.target_out);
  EXPECT_EQ(first_targets(whole, 9).tokens, whole.tokens);
}

}  // namespace
}  // namespace ablate::data
