#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

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

}  // namespace ablate::statistics
