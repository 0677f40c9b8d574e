#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

inline constexpr double kTolerance = 1e-9;

/// What golden/make_golden.py wrote.
inline const nlohmann::json& golden() {
  static const auto values = [] {
    std::ifstream file(ABLATE_SOURCE "/tests/experiments/analysis/statistics/golden/golden.json");
    return nlohmann::json::parse(file);
  }();
  return values;
}

/// Expects intervals of these ends; a null stands for an absent interval.
inline void expect_intervals(const std::vector<std::optional<Interval>>& intervals,
                             const nlohmann::json& expected) {
  for (size_t i = 0; i < intervals.size(); ++i) {
    ASSERT_EQ(intervals[i].has_value(), !expected[i].is_null()) << expected;
    if (!intervals[i]) continue;
    const double low = expected[i][0], high = expected[i][1];
    const double tolerance = 1e-7 * (high - low + std::max(std::abs(low), std::abs(high)));
    EXPECT_NEAR(intervals[i]->low, low, tolerance) << expected;
    EXPECT_NEAR(intervals[i]->high, high, tolerance) << expected;
  }
}

}  // namespace ablate::statistics
