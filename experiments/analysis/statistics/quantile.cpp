#include "experiments/analysis/statistics/quantile.h"

#include <cmath>
#include <numbers>

namespace ablate::statistics {
namespace {

/// P(|t| <= sqrt(degrees) tan(angle)), a finite sum (Abramowitz and Stegun 1964, 26.7.3, 26.7.4).
double probability_within(double angle, int64_t degrees) {
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (int64_t power = odd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

}  // namespace

double t_quantile(int64_t degrees) {
  double low = 0, high = std::numbers::pi / 2;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2)
    (probability_within(middle, degrees) < kConfidence ? low : high) = middle;
  return std::sqrt(static_cast<double>(degrees)) * std::tan(high);
}

}  // namespace ablate::statistics
