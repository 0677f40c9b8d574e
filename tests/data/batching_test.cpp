#include <gtest/gtest.h>

#include <set>

#include "data/batch.h"

namespace ablate::data {
namespace {

std::vector<EncodedExample> examples(size_t count) {
  std::vector<EncodedExample> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(
        {std::vector<int32_t>(2 + (i * 7) % 23, 5), std::vector<int32_t>(2 + (i * 5) % 17, 6)});
  return result;
}

TEST(BatchPlan, ShowsEveryExampleOnceWithinTheBudget) {
  const auto all = examples(500);
  std::multiset<int64_t> seen;
  for (const auto& batch :
       batch_plan(lengths_of(all), {.tokens_per_batch = 200, .seed = 1, .epoch = 0})) {
    const auto padded = collate(all, batch);
    EXPECT_LE(padded.rows * padded.source_length, 200);
    EXPECT_LE(padded.rows * padded.target_length, 200);
    seen.insert(batch.begin(), batch.end());
  }
  EXPECT_EQ(seen.size(), all.size());
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), all.size());
}

TEST(BatchPlan, IsAFunctionOfSeedAndEpoch) {
  const auto all = examples(300);
  const auto plan = [&](uint64_t seed, int64_t epoch) {
    return batch_plan(lengths_of(all), {.tokens_per_batch = 120, .seed = seed, .epoch = epoch});
  };
  EXPECT_EQ(plan(1, 0), plan(1, 0));
  EXPECT_NE(plan(1, 0), plan(1, 1));
  EXPECT_NE(plan(1, 0), plan(2, 0));
}

}  // namespace
}  // namespace ablate::data
