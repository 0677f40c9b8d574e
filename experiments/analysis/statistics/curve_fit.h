#pragma once

#include <array>
#include <span>
#include <vector>

namespace ablate::statistics {

/// The least-squares curve through values at fixed points, a parabola through three points and a
/// cubic through more. It is linear in the values.
class CurveFit {
 public:
  /// REQUIRES: three or more different points.
  explicit CurveFit(std::vector<double> points);

  /// The weights of the values at the points whose sum is the curve at `x`; they sum to 1.
  std::vector<double> weights_at(double x) const;

  /// The place, from the least to the largest point, at which the curve through the values is
  /// lowest.
  double lowest(std::span<const double> values) const;

 private:
  using Factors = std::array<double, 4>;  // of the powers of x less the mean of the points

  double at(const Factors& polynomial, double x) const;
  void add(const Factors& polynomial);
  Factors next() const;

  std::vector<double> points_;
  double mean_ = 0;
  std::vector<Factors> basis_;   // orthogonal over the points (Forsythe 1957)
  std::vector<double> squares_;  // of each, summed over the points
};

}  // namespace ablate::statistics
