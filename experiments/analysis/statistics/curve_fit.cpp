#include "experiments/analysis/statistics/curve_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ablate::statistics {

CurveFit::CurveFit(std::vector<double> points) : points_(std::move(points)) {
  for (const double point : points_) mean_ += point / static_cast<double>(points_.size());
  add({1});
  add({0, 1});
  while (basis_.size() < std::min(points_.size(), Factors().size())) add(next());
}

double CurveFit::at(const Factors& polynomial, double x) const {
  const double u = x - mean_;
  return polynomial[0] + u * (polynomial[1] + u * (polynomial[2] + u * polynomial[3]));
}

void CurveFit::add(const Factors& polynomial) {
  double square = 0;
  for (const double point : points_) square += at(polynomial, point) * at(polynomial, point);
  basis_.push_back(polynomial);
  squares_.push_back(square);
}

/// The polynomial of the next degree that is orthogonal to all before it.
CurveFit::Factors CurveFit::next() const {
  const auto& last = basis_.back();
  const auto& before = basis_[basis_.size() - 2];
  double moment = 0;
  for (const double point : points_)
    moment += (point - mean_) * at(last, point) * at(last, point) / squares_.back();
  const double ratio = squares_.back() / squares_[squares_.size() - 2];
  Factors found = {};
  for (size_t power = 0; power < found.size(); ++power)
    found[power] = (power > 0 ? last[power - 1] : 0) - moment * last[power] - ratio * before[power];
  return found;
}

std::vector<double> CurveFit::weights_at(double x) const {
  std::vector<double> weights(points_.size(), 0);
  for (size_t i = 0; i < points_.size(); ++i)
    for (size_t k = 0; k < basis_.size(); ++k)
      weights[i] += at(basis_[k], x) * at(basis_[k], points_[i]) / squares_[k];
  return weights;
}

double CurveFit::lowest(std::span<const double> values) const {
  Factors curve = {};
  for (size_t k = 0; k < basis_.size(); ++k) {
    double factor = 0;
    for (size_t i = 0; i < points_.size(); ++i)
      factor += values[i] * at(basis_[k], points_[i]) / squares_[k];
    for (size_t power = 0; power < curve.size(); ++power) curve[power] += factor * basis_[k][power];
  }
  const auto [least, most] = std::ranges::minmax(points_);
  const double end = at(curve, most) < at(curve, least) ? most : least;
  // The root of the derivative at which the second one is positive, NaN without one.
  const double root = std::sqrt(curve[2] * curve[2] - 3 * curve[3] * curve[1]);
  const double minimum = mean_ - curve[1] / (curve[2] + root);
  const bool inside = minimum > least && minimum < most;
  return inside && at(curve, minimum) < at(curve, end) ? minimum : end;
}

}  // namespace ablate::statistics
