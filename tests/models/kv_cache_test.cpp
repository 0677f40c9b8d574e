#include "models/kv_cache.h"

#include <gtest/gtest.h>

#include <set>

namespace ablate::models {
namespace {

/// One position of one head with keys and values of width 1: the values are those of the keys plus
/// 100. // [M] numbers -> [M, 1, 1, 1] twice
KVCache::Block position(const std::vector<float>& keys) {
  const auto key = torch::tensor(keys).view({-1, 1, 1, 1});
  return {key, key + 100};
}

/// Keys of every row. // [B, S]
std::vector<std::vector<float>> rows_of(const KVCache::Block& block) {
  EXPECT_TRUE(torch::equal(block[1], block[0] + 100));
  std::vector<std::vector<float>> rows;
  for (const auto& row : block[0].unbind(0)) {
    const auto flat = row.flatten().contiguous();
    rows.emplace_back(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return rows;
}

using Rows = std::vector<std::vector<float>>;

KVCache empty_cache(int64_t rows) {
  const auto none = torch::empty({rows, 1, 0, 1});
  return {.blocks = {{none, none}}, .beam_index = {}};
}

TEST(KVCache, MergesWhatWasAppendedInTheRowsThatTheBeamTook) {
  KVCache cache;
  cache.append_block(position({1, 2}));
  cache.reorder(torch::tensor({1, 1, 0}));
  cache.append_block(position({3, 4, 5}));
  cache.reorder(torch::tensor({2, 0}));
  cache.append_block(position({6, 7}));
  EXPECT_EQ(cache.blocks.size(), 3U) << "nothing was copied yet";
  EXPECT_EQ(rows_of(cache.concatenate()), (Rows{{1, 5, 6}, {2, 3, 7}}));
  EXPECT_EQ(cache.blocks.size(), 1U);
}

TEST(KVCache, GoesOnAfterAMerge) {
  KVCache cache;
  cache.append_block(position({1, 2}));
  cache.concatenate();
  cache.reorder(torch::tensor({1, 0}));
  EXPECT_EQ(rows_of(cache.concatenate()), (Rows{{2}, {1}}));
  cache.append_block(position({3, 4}));
  EXPECT_EQ(rows_of(cache.concatenate()), (Rows{{2, 3}, {1, 4}}));
}

TEST(KVCache, AnEmptyBlockMakesRoomForTheFirstPosition) {
  auto cache = empty_cache(2);
  cache.append_block(position({1, 2}));
  EXPECT_EQ(cache.blocks.size(), 1U);
  EXPECT_EQ(rows_of(cache.concatenate()), (Rows{{1}, {2}}));
}

TEST(KVCache, ExtendsByThePositionsOfTheRowsThatTheBeamTook) {
  auto cache = empty_cache(2);
  EXPECT_EQ(rows_of(cache.append_in_place(position({1, 2}))), (Rows{{1}, {2}}));
  cache.reorder(torch::tensor({1, 1, 0}));
  EXPECT_EQ(rows_of(cache.append_in_place(position({3, 4, 5}))), (Rows{{2, 3}, {2, 4}, {1, 5}}));
  cache.reorder(torch::tensor({2, 0}));
  cache.reorder(torch::tensor({1, 0}));
  EXPECT_EQ(rows_of(cache.append_in_place(position({6, 7}))), (Rows{{2, 3, 6}, {1, 5, 7}}));
}

TEST(KVCache, ExtendsInPlaceUntilTheRoomEnds) {
  auto cache = empty_cache(1);
  std::set<const void*> places;
  std::vector<float> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back(static_cast<float>(i));
    const auto& all = cache.append_in_place(position({expected.back()}));
    ASSERT_EQ(rows_of(all), (Rows{expected}));
    places.insert(all[0].const_data_ptr());
  }
  EXPECT_EQ(places.size(), 4U) << "of 16, 32, 64 and 128 positions";
}

TEST(KVCache, GathersOnceUntilTheRowsChange) {
  KVCache cache{.blocks = {position({1, 2})}, .beam_index = {}};
  EXPECT_TRUE(cache.reordered()[0].is_same(cache.blocks[0][0]));
  cache.reorder(torch::tensor({1, 1, 0}));
  const auto key = cache.reordered()[0];
  EXPECT_EQ(rows_of(cache.reordered()), (Rows{{2}, {2}, {1}}));
  EXPECT_TRUE(cache.reordered()[0].is_same(key));
  cache.reorder(torch::tensor({2, 0}));
  EXPECT_EQ(rows_of(cache.reordered()), (Rows{{1}, {2}}));
}

TEST(KVCache, TakesWhatPartsKeepUnderTheirNamesAlong) {
  KVCache cache;
  cache.state["sums"] = torch::tensor({1, 2});
  cache.state["recent"] = torch::tensor({3, 4});
  cache.reorder(torch::tensor({1, 1, 0}));
  EXPECT_TRUE(torch::equal(*cache.state.find("sums"), torch::tensor({2, 2, 1})));
  EXPECT_TRUE(torch::equal(cache.state["recent"], torch::tensor({4, 4, 3})));
  EXPECT_EQ(cache.state.find("other"), nullptr);
}

TEST(KVCache, WhatIsNoKeyMayLackItsPartner) {
  KVCache cache{.blocks = {{torch::tensor({1.0F, 2.0F}), torch::Tensor()}}, .beam_index = {}};
  cache.reorder(torch::tensor({1, 0, 1}));
  const auto& [state, nothing] = cache.concatenate();
  EXPECT_TRUE(torch::equal(state, torch::tensor({2.0F, 1.0F, 2.0F})));
  EXPECT_FALSE(nothing.defined());
}

}  // namespace
}  // namespace ablate::models
