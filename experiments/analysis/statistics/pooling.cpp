#include "experiments/analysis/statistics/pooling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiments/analysis/statistics/student.h"

namespace ablate::statistics {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

double dot(std::span<const double> left, std::span<const double> right) {
  return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
}

/// The covariates behind a 1.
Vector row_of(std::span<const double> place) {
  Vector row{1};
  row.insert(row.end(), place.begin(), place.end());
  return row;
}

/// By Gauss and Jordan; absent if a row is a sum of others, but for rounding.
std::optional<Matrix> inverse_of(Matrix matrix) {
  constexpr double kRounding = 1e-9;
  const size_t n = matrix.size();
  Vector diagonal;
  for (size_t i = 0; i < n; ++i) {
    diagonal.push_back(matrix[i][i]);
    matrix[i].resize(2 * n);
    matrix[i][n + i] = 1;
  }
  for (size_t i = 0; i < n; ++i) {
    const double pivot = matrix[i][i];
    if (!(pivot > kRounding * diagonal[i])) return {};
    for (double& value : matrix[i]) value /= pivot;
    for (size_t other = 0; other < n; ++other) {
      const double factor = other == i ? 0 : matrix[other][i];
      for (size_t j = 0; j < 2 * n; ++j) matrix[other][j] -= factor * matrix[i][j];
    }
  }
  for (auto& row : matrix) row.erase(row.begin(), row.begin() + static_cast<ptrdiff_t>(n));
  return matrix;
}

/// Weighted least squares with the weights 1 / (error^2 + tau^2).
struct Weighted {
  Vector coefficients;
  Matrix covariance;
  double residual = 0;  // weighted sum of squares
};

std::optional<Weighted> fit(std::span<const StudyEffect> studies, double tau) {
  const size_t count = row_of(studies.front().place).size();
  Matrix products(count, Vector(count));
  Vector sums(count);
  const auto weight_of = [&](const StudyEffect& study) {
    return 1 / (study.error * study.error + tau * tau);
  };
  for (const auto& study : studies) {
    const auto row = row_of(study.place);
    for (size_t i = 0; i < count; ++i) {
      sums[i] += weight_of(study) * row[i] * study.mean;
      for (size_t j = 0; j < count; ++j) products[i][j] += weight_of(study) * row[i] * row[j];
    }
  }
  const auto inverse = inverse_of(products);
  if (!inverse) return {};
  Weighted fitted{.covariance = *inverse};
  for (const auto& row : *inverse) fitted.coefficients.push_back(dot(row, sums));
  for (const auto& study : studies) {
    const double left = study.mean - dot(row_of(study.place), fitted.coefficients);
    fitted.residual += weight_of(study) * left * left;
  }
  return fitted;
}

/// The tau for which the weighted sum of squares equals its expectation, `degrees`; 0 if the sum is
/// no larger without any tau.
double tau_of(std::span<const StudyEffect> studies, double degrees) {
  const auto exceeds = [&](double tau) { return fit(studies, tau)->residual > degrees; };
  if (!exceeds(0)) return 0;
  double low = 0, high = 0;
  for (const auto& study : studies) high = std::max(high, std::abs(study.mean));
  while (exceeds(high)) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    (exceeds(middle) ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::optional<PooledStudies> PooledStudies::of(std::span<const StudyEffect> studies) {
  if (studies.empty()) return {};
  const auto coefficients = std::ssize(studies.front().place) + 1;
  const auto degrees = std::ssize(studies) - coefficients;
  const bool known =
      std::ranges::all_of(studies, [](const StudyEffect& study) { return study.error > 0; });
  if (degrees < 2 || !known || !fit(studies, 0)) return {};
  PooledStudies pooled;
  pooled.studies_ = std::ssize(studies);
  pooled.tau_ = tau_of(studies, static_cast<double>(degrees));
  const auto fitted = fit(studies, pooled.tau_);
  pooled.coefficients_ = fitted->coefficients;
  pooled.covariance_ = fitted->covariance;
  const double scale = std::max(1.0, fitted->residual / static_cast<double>(degrees));
  for (auto& row : pooled.covariance_)
    for (double& value : row) value *= scale;
  return pooled;
}

PooledEffect PooledStudies::at(std::span<const double> place, double confidence) const {
  const auto row = row_of(place);
  const double mean = dot(row, coefficients_);
  double variance = 0;
  for (size_t i = 0; i < row.size(); ++i) variance += row[i] * dot(covariance_[i], row);
  const auto degrees = studies_ - std::ssize(coefficients_);
  const double half = t_quantile(degrees, confidence) * std::sqrt(variance);
  const double wide = t_quantile(degrees - 1, confidence) * std::sqrt(variance + tau_ * tau_);
  return {.mean = mean,
          .confidence = {mean - half, mean + half},
          .prediction = {mean - wide, mean + wide}};
}

}  // namespace ablate::statistics
