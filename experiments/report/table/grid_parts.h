#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"

namespace ablate::report {

// Texts of cells, and what the rows of grids are made of.

/// "0.800 ± 0.141"; without a deviation for fewer than two seeds and for bounds.
std::string with_deviation(const analysis::Sample& sample, const std::string& metric);

/// "0.8 [0.7, 0.9]"; the mean alone if there is no interval.
std::string with_interval(const std::string& mean,
                          const std::optional<statistics::Interval>& interval,
                          const std::string& metric);

/// A cell of each test set, in order.
std::vector<const analysis::Cell*> test_sets_of(const analysis::ArmEvidence& arm);

std::string test_set_name(const analysis::Cell& cell);

bool is_compared_by(const analysis::TaskEvidence& task, const analysis::Cell& cell);

/// "2 tasks", "2 tasks in 6 settings"
std::string pooled_words(const analysis::Aggregate& aggregate);

}  // namespace ablate::report
