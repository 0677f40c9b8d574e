#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "experiments/analysis/evidence.h"

namespace ablate::analysis {

/// A score with as many digits after the point as its metric has; "-" of NaN.
std::string format_metric(double value, const std::string& metric);

/// The mean of a sample; "> 400" where it is a lower bound.
std::string mean_figure(const Sample& sample, const std::string& metric);

/// One of its values; "> 400" where that is how far a run had got.
std::string value_figure(const Sample& sample, size_t i, const std::string& metric);

/// "[0.020, 0.042]"; empty where there is none.
std::string format_metric(const std::optional<statistics::Interval>& interval,
                          const std::string& metric);

/// "0.031", "< 0.001".
std::string p_figure(double p);

/// "934 k", "1.06 M".
std::string count_figure(int64_t number);

/// The parameters of an arm; "1,000 of 4,000" where a token uses some of them alone; "-" where no
/// run has finished.
std::string parameters_figure(const ArmEvidence& arm);

/// Millions of floating-point operations per token in a forward pass; "-" where no run has
/// finished.
std::string megaflops_figure(const ArmEvidence& arm);

/// "exact match", "BLEU": a metric as it is read.
std::string display_name(const std::string& name);

/// "not distinguishable": a verdict as it is read.
std::string display_name(Verdict verdict);

/// How a metric is written, and which of its values are better.
struct Scored {
  std::string metric;
  Direction direction;
};

/// Whether no mean is better than number `i`, as they are printed, and some mean is worse. NaN is
/// neither, and nothing is where neither direction is better.
bool is_best(std::span<const double> means, size_t i, const Scored& scored);

}  // namespace ablate::analysis
