#include "experiments/analysis/contrast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {

Sample sample_of(std::vector<double> values, const statistics::Interval& range) {
  Sample sample{.values = std::move(values)};
  const auto finished = finished_values(sample);
  sample.count = std::ssize(finished);
  sample.mean = statistics::mean(finished);
  sample.deviation = statistics::deviation(finished);
  sample.interval = statistics::t_interval(finished, range);
  return sample;
}

std::vector<double> finished_values(const Sample& sample) {
  std::vector<double> finished;
  std::ranges::copy_if(sample.values, std::back_inserter(finished),
                       [](double value) { return !std::isnan(value); });
  return finished;
}

namespace {

bool finite(const Contrast& contrast) {
  return std::ranges::all_of(contrast.differences, [](double d) { return std::isfinite(d); });
}

Verdict verdict_of(const Contrast& contrast, const Cell& cell, const Claim& claim) {
  if (!cell.primary) return Verdict::exploratory;
  if (!claim.missing.empty()) return Verdict::uneven;
  if (!claim.not_learned.empty()) return Verdict::not_learned;
  if (claim.censored) return Verdict::censored;
  if (!finite(contrast)) return Verdict::not_tested;
  const bool margin = claim.margin.has_value();
  if (std::ssize(contrast.differences) < seeds_needed(claim.comparisons, margin))
    return Verdict::too_few_seeds;
  // Equivalence comes first: a difference within the margin does not matter, even if it is
  // significant.
  if (margin && contrast.equivalence.holm_p <= kLevel) return Verdict::equivalent;
  if (contrast.difference.holm_p > kLevel)
    return margin ? Verdict::undecided : Verdict::indistinguishable;
  return (contrast.mean > 0) == (cell.direction == Direction::higher) ? Verdict::better
                                                                      : Verdict::worse;
}

std::string difference_text(const Contrast& contrast, const std::string& metric) {
  const auto interval = format_metric(contrast.interval, metric);
  return fmt::format("difference {}{}{}", format_metric(contrast.mean, metric),
                     interval.empty() ? "" : " ", interval);
}

/// "0.031 [0.020, 0.042]", as a positive size.
std::string size_text(const Contrast& contrast, const std::string& metric) {
  auto interval = contrast.interval;
  if (interval && contrast.mean < 0) interval = {-interval->high, -interval->low};
  return fmt::format("{} {}", format_metric(std::abs(contrast.mean), metric),
                     format_metric(interval, metric));
}

/// "p = 0.004 (Holm 0.031)"
std::string p_text(const Test& test, const Claim& claim) {
  const auto p = p_figure(test.p);
  const auto text = p.starts_with('<') ? "p " + p : "p = " + p;
  return claim.comparisons < 2 ? text : fmt::format("{} (Holm {})", text, p_figure(test.holm_p));
}

std::string too_few_text(const Contrast& contrast, const Claim& claim) {
  const auto seeds = std::ssize(contrast.differences);
  const bool margin = claim.margin.has_value();
  const double least = smallest_p(seeds, margin);
  std::string comparisons, holm;
  if (claim.comparisons > 1) {
    comparisons = fmt::format(" in {} comparisons", claim.comparisons);
    holm = fmt::format(", Holm {}",
                       p_figure(std::min(1.0, least * static_cast<double>(claim.comparisons))));
  }
  return fmt::format("no claim: {} seed{} {}{} (smallest p {}{}); {}{}", seeds,
                     seeds == 1 ? "" : "s",
                     margin ? "can show neither a significant difference nor equivalence"
                            : "cannot show a significant difference",
                     comparisons, p_figure(least), holm, margin ? "it takes " : "",
                     seeds_needed(claim.comparisons, margin)) +
         (margin ? "" : " can");
}

std::string undecided_text(const Contrast& contrast, const std::string& metric,
                           const Claim& claim) {
  return fmt::format("undecided: {}, {} that there is one, {} that it is smaller than {}",
                     difference_text(contrast, metric), p_text(contrast.difference, claim),
                     p_text(contrast.equivalence, claim), *claim.margin);
}

std::string sentence_of(const Contrast& contrast, const Cell& cell, const Claim& claim) {
  const auto& metric = cell.metric;
  switch (contrast.verdict) {
    case Verdict::better:
    case Verdict::worse:
      return fmt::format("{} by {}, {}", contrast.verdict == Verdict::better ? "better" : "worse",
                         size_text(contrast, metric), p_text(contrast.difference, claim));
    case Verdict::equivalent:
      return fmt::format("equivalent to {} within {}: {}, {}", claim.baseline, *claim.margin,
                         difference_text(contrast, metric), p_text(contrast.equivalence, claim));
    case Verdict::indistinguishable:
      return fmt::format("not distinguishable from {}: {}, {}", claim.baseline,
                         difference_text(contrast, metric), p_text(contrast.difference, claim));
    case Verdict::undecided:
      return undecided_text(contrast, metric, claim);
    case Verdict::too_few_seeds:
      return fmt::format("{}; {}", difference_text(contrast, metric),
                         too_few_text(contrast, claim));
    case Verdict::not_learned:
      return "no claim: " + claim.not_learned;
    case Verdict::uneven:
      return fmt::format("no claim: {}; compare.allow: [seeds] compares the others", claim.missing);
    case Verdict::censored:
      return "no claim: a run has not reached the target";
    case Verdict::not_tested:
      return "no claim: a value is not finite";
    case Verdict::exploratory:
      return "exploratory, not tested: " + difference_text(contrast, metric);
  }
  return "";
}

}  // namespace

Contrast contrast_of(const Cell& arm, const Sample& baseline) {
  Contrast contrast;
  if (is_censored(arm.sample) || is_censored(baseline)) {
    contrast.mean = contrast.improvement = kUntested;
    return contrast;
  }
  const auto& values = arm.sample.values;
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i]) && !std::isnan(baseline.values[i]))
      contrast.differences.push_back(values[i] - baseline.values[i]);
  contrast.mean = statistics::mean(contrast.differences);
  contrast.interval =
      statistics::t_interval(contrast.differences, statistics::differences_in(arm.range));
  const auto mine = finished_values(arm.sample), others = finished_values(baseline);
  if (arm.direction == Direction::neither)
    contrast.improvement = kUntested;
  else
    contrast.improvement = arm.direction == Direction::higher
                               ? statistics::probability_greater(mine, others)
                               : statistics::probability_greater(others, mine);
  return contrast;
}

void test_contrast(Contrast& contrast, std::optional<double> margin) {
  if (!finite(contrast)) return;
  contrast.difference.p = statistics::sign_flip_p(contrast.differences);
  if (margin) contrast.equivalence.p = statistics::equivalence_p(contrast.differences, *margin);
}

int64_t seeds_needed(int64_t comparisons, bool with_margin) {
  return statistics::differences_needed(
      kLevel, comparisons,
      with_margin ? statistics::smallest_equivalence_p : statistics::smallest_sign_flip_p);
}

double smallest_p(int64_t seeds, bool with_margin) {
  return with_margin ? statistics::smallest_equivalence_p(seeds)
                     : statistics::smallest_sign_flip_p(seeds);
}

void judge(Contrast& contrast, const Cell& cell, const Claim& claim) {
  contrast.verdict = verdict_of(contrast, cell, claim);
  contrast.sentence = sentence_of(contrast, cell, claim);
}

}  // namespace ablate::analysis
