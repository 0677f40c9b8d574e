#include "experiments/analysis/statistics/forecast.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {
namespace {

constexpr double kNinetiethQuantile = 1.2815515655446004;  // of a standard normal variable
constexpr double kMissed = 0.2;                            // share that the interval leaves out

double normal_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

double probability_of_positive(const std::array<double, 3>& quantiles) {
  const auto [low, median, high] = quantiles;
  const double deviation = (median < 0 ? high - median : median - low) / kNinetiethQuantile;
  if (median == 0) return 0.5;
  return deviation > 0 ? normal_below(median / deviation) : median > 0 ? 1 : 0;
}

}  // namespace

ForecastScore score_of(const std::array<double, 3>& quantiles, double value) {
  const double low = quantiles.front(), high = quantiles.back();
  const double miss = std::max({difference_of(low, value), difference_of(value, high), 0.0});
  const double positive = value > 0 ? 1 : value < 0 ? 0 : 0.5;
  return {.inside = miss == 0,
          .interval_score = high - low + 2 / kMissed * miss,
          .brier = std::pow(probability_of_positive(quantiles) - positive, 2)};
}

}  // namespace ablate::statistics
