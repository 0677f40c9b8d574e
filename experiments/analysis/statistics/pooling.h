#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "experiments/analysis/statistics/estimates.h"

namespace ablate::statistics {

/// The effect in one study, its standard error, and the covariates of the study.
struct StudyEffect {
  double mean = 0, error = 0;
  std::vector<double> place;  // covariates, as many of every study
};

/// The effect at one place.
struct PooledEffect {
  double mean = 0;
  Interval confidence;  // of the mean over such studies
  Interval prediction;  // of the true effect in another such study
};

/// Studies whose true effects are a linear function of their place, and scatter about it with a
/// deviation of their own, tau: random effects, tau by Paule and Mandel (1982), intervals by Knapp
/// and Hartung (2003), never narrower than without scatter, and predictions as Higgins, Thompson
/// and Spiegelhalter (2009).
class PooledStudies {
 public:
  /// The pooled studies. Absent if there are fewer than two studies more than coefficients, one for
  /// each covariate and one for all studies, if an error is not positive, or if the places do not
  /// tell the coefficients apart.
  static std::optional<PooledStudies> of(std::span<const StudyEffect> studies);

  double tau() const { return tau_; }
  int64_t studies() const { return studies_; }
  /// Coefficients: that of all studies, then those of the covariates.
  const std::vector<double>& coefficients() const { return coefficients_; }
  /// REQUIRES: as many covariates as the studies have, and 0 < confidence < 1.
  PooledEffect at(std::span<const double> place, double confidence = kConfidence) const;

 private:
  PooledStudies() = default;

  double tau_ = 0;
  int64_t studies_ = 0;
  std::vector<double> coefficients_;
  std::vector<std::vector<double>> covariance_;  // of the coefficients
};

}  // namespace ablate::statistics
