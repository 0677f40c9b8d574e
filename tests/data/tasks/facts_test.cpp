#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "data/tasks/table.h"

namespace ablate::data {
namespace {

TEST(Facts, EveryKeyHasOneValueAndAllOfThemAreTrainedOnAndTested) {
  const auto corpus = fact_table({.symbols = 4, .key = 3}, 1);
  std::map<std::string, std::string> table;
  for (const auto& example : corpus.train)
    EXPECT_TRUE(table.emplace(example.source, example.target).second);
  EXPECT_EQ(table.size(), 64U);
  EXPECT_EQ(corpus.train, corpus.tests.front().examples);
  EXPECT_FALSE(corpus.tests.front().extrapolates);
  EXPECT_NEAR(corpus.tests.front().nats.value(), 64 * std::log(4), 1e-9);
  EXPECT_NE(corpus.train, fact_table({.symbols = 4, .key = 3}, 2).train);
}

}  // namespace
}  // namespace ablate::data
