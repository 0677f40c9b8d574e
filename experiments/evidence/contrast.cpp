#include "experiments/evidence/contrast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/evidence/figure.h"
#include "experiments/evidence/sample.h"
#include "experiments/statistics/aggregate.h"
#include "experiments/statistics/mean.h"
#include "experiments/statistics/sign_flip.h"

namespace ablate::experiments {
namespace {

bool finite(const Contrast& contrast) {
  return std::ranges::all_of(contrast.differences, [](double d) { return std::isfinite(d); });
}

Verdict verdict_of(const Contrast& contrast, const Cell& cell, const Claim& claim) {
  if (!cell.primary) return Verdict::secondary;
  if (!claim.missing.empty()) return Verdict::uneven;
  if (!claim.not_learned.empty()) return Verdict::not_learned;
  if (!finite(contrast)) return Verdict::not_tested;
  const auto seeds = std::ssize(contrast.differences);
  if (seeds < statistics::differences_needed(kLevel, claim.comparisons))
    return Verdict::too_few_seeds;
  if (contrast.holm_p > kLevel) return Verdict::indistinguishable;
  return (contrast.mean > 0) == (cell.direction == Direction::higher) ? Verdict::better
                                                                      : Verdict::worse;
}

std::string difference_text(const Contrast& contrast, const std::string& metric) {
  const auto interval = figure(contrast.interval, metric);
  return fmt::format("difference {}{}{}", figure(contrast.mean, metric),
                     interval.empty() ? "" : " ", interval);
}

/// "0.031 [0.020, 0.042]", counted in the direction of the change.
std::string size_text(const Contrast& contrast, const std::string& metric) {
  auto interval = contrast.interval;
  if (interval && contrast.mean < 0) interval = {-interval->high, -interval->low};
  return fmt::format("{} {}", figure(std::abs(contrast.mean), metric), figure(interval, metric));
}

std::string p_text(const Contrast& contrast, const Claim& claim) {
  const auto p = p_figure(contrast.p);
  const auto text = p.starts_with('<') ? "p " + p : "p = " + p;
  return claim.comparisons < 2 ? text
                               : fmt::format("{} (Holm {})", text, p_figure(contrast.holm_p));
}

std::string too_few_text(const Contrast& contrast, const Claim& claim) {
  const auto seeds = std::ssize(contrast.differences);
  const double least = statistics::smallest_sign_flip_p(seeds);
  const auto arms =
      claim.comparisons < 2 ? std::string() : fmt::format(" among {} arms", claim.comparisons);
  const auto holm =
      claim.comparisons < 2
          ? std::string()
          : fmt::format(", Holm {}",
                        p_figure(std::min(1.0, least * static_cast<double>(claim.comparisons))));
  return fmt::format(
      "no claim: {} seed{} cannot show a significant difference{} (smallest p {}{}); "
      "{} can",
      seeds, seeds == 1 ? "" : "s", arms, p_figure(least), holm,
      statistics::differences_needed(kLevel, claim.comparisons));
}

std::string sentence_of(const Contrast& contrast, const Cell& cell, const Claim& claim) {
  const auto& metric = cell.metric;
  switch (contrast.verdict) {
    case Verdict::better:
    case Verdict::worse:
      return fmt::format("{} by {}, {}", contrast.verdict == Verdict::better ? "better" : "worse",
                         size_text(contrast, metric), p_text(contrast, claim));
    case Verdict::indistinguishable:
      return fmt::format("not distinguishable from {}: {}, {}", claim.baseline,
                         difference_text(contrast, metric), p_text(contrast, claim));
    case Verdict::too_few_seeds:
      return fmt::format("{}; {}", difference_text(contrast, metric),
                         too_few_text(contrast, claim));
    case Verdict::not_learned:
      return "no claim: " + claim.not_learned;
    case Verdict::uneven:
      return fmt::format("no claim: {}; compare.allow: [seeds] compares the others", claim.missing);
    case Verdict::not_tested:
      return "no claim: a value is not finite";
    case Verdict::secondary:
      return difference_text(contrast, metric);
  }
  return "";
}

}  // namespace

Contrast contrast_of(const Cell& arm, const Sample& baseline) {
  Contrast contrast;
  const auto& values = arm.sample.values;
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isnan(values[i]) && !std::isnan(baseline.values[i]))
      contrast.differences.push_back(values[i] - baseline.values[i]);
  contrast.mean = statistics::mean(contrast.differences);
  contrast.interval = statistics::t_interval(contrast.differences);
  if (finite(contrast)) contrast.p = statistics::sign_flip_p(contrast.differences);
  const auto mine = finished_values(arm.sample), others = finished_values(baseline);
  contrast.improvement = arm.direction == Direction::higher
                             ? statistics::probability_greater(mine, others)
                             : statistics::probability_greater(others, mine);
  return contrast;
}

void judge(Contrast& contrast, const Cell& cell, const Claim& claim) {
  contrast.verdict = verdict_of(contrast, cell, claim);
  contrast.sentence = sentence_of(contrast, cell, claim);
}

}  // namespace ablate::experiments
