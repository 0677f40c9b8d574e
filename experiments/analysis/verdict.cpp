#include "experiments/analysis/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "experiments/analysis/family.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {
namespace {

using config::ClaimKind;

bool is_better(const Contrast& contrast, const Cell& cell) {
  return (contrast.mean > 0) == (cell.direction == Direction::higher);
}

bool too_few_seeds(const Contrast& contrast, const Judged& judged) {
  const auto seeds = std::ssize(contrast.differences);
  return seeds < judged.seeds_for_difference &&
         (!contrast.claim.margin || seeds < judged.seeds_for_margin);
}

Verdict tested_verdict(const Contrast& contrast, const Cell& cell) {
  const bool differs = contrast.difference.adjusted_p <= kLevel;
  const bool within = contrast.claim.margin && contrast.within.adjusted_p <= kLevel;
  const auto direction = is_better(contrast, cell) ? Verdict::better : Verdict::worse;
  if (within && contrast.claim.kind == ClaimKind::noninferior)
    return differs && direction == Verdict::better ? Verdict::better : Verdict::no_worse;
  // A difference within the margin does not matter, even if it is significant.
  if (within) return Verdict::equivalent;
  return differs ? direction : Verdict::inconclusive;
}

NoClaim few_seeds(const Contrast& contrast, const Judged& judged) {
  auto needed = judged.seeds_for_difference;
  if (contrast.claim.margin) needed = std::min(needed, judged.seeds_for_margin);
  return {.reason = Reason::too_few_seeds,
          .seeds_needed = needed,
          .comparisons = judged.correction == Correction::holm ? judged.comparisons : 0};
}

/// Absent if the verdict is that of the test.
std::optional<NoClaim> no_claim_of(const Contrast& contrast, const Cell& cell,
                                   const Judged& judged) {
  if (judged.crossed) return NoClaim{.reason = Reason::crossed};
  if (judged.no_claim) return judged.no_claim;
  if (!contrast.collapsed.empty()) return NoClaim{.reason = Reason::unstable};
  if (!statistics::all_finite(contrast.differences)) return NoClaim{.reason = Reason::not_finite};
  if (too_few_seeds(contrast, judged)) return few_seeds(contrast, judged);
  const auto verdict = tested_verdict(contrast, cell);
  const bool alike = verdict == Verdict::equivalent || verdict == Verdict::no_worse;
  if (alike && judged.both_failed) return NoClaim{.reason = Reason::both_failed};
  return {};
}

Verdict verdict_of(Reason reason) {
  switch (reason) {
    case Reason::uneven:
      return Verdict::uneven;
    case Reason::no_gate:
    case Reason::not_learned:
    case Reason::both_failed:
      return Verdict::not_learned;
    case Reason::censored:
    case Reason::at_once:
      return Verdict::censored;
    case Reason::unstable:
      return Verdict::unstable;
    case Reason::not_finite:
      return Verdict::not_tested;
    case Reason::crossed:
      return Verdict::crossed;
    case Reason::too_few_seeds:
      break;
  }
  return Verdict::too_few_seeds;
}

/// Whether the interval ends before the published difference.
bool leaves_out_published(const Contrast& contrast) {
  const auto& published = contrast.claim.published;
  if (!published || !contrast.interval) return false;
  return *published > 0 ? contrast.interval->high < *published
                        : contrast.interval->low > *published;
}

/// The outcome of a claim of a difference in the direction that `agreeing` names.
Outcome outcome_of_difference(const Contrast& contrast, const Cell& cell, Verdict agreeing) {
  if (!is_tested(contrast.verdict)) return Outcome::inconclusive;
  const bool shown = contrast.difference.adjusted_p <= kLevel;
  const bool claimed = is_better(contrast, cell) == (agreeing == Verdict::better);
  if (shown && !claimed) return Outcome::other_sign;
  if (contrast.verdict == agreeing) return Outcome::agrees;
  return !shown && leaves_out_published(contrast) ? Outcome::no_effect_of_that_size
                                                  : Outcome::inconclusive;
}

/// The outcome of a claim that there is no effect beyond the margin.
Outcome outcome_of_margin(const Contrast& contrast, bool agrees) {
  if (agrees) return Outcome::agrees;
  return is_tested(contrast.verdict) && contrast.beyond.adjusted_p <= kLevel
             ? Outcome::beyond_margin
             : Outcome::inconclusive;
}

std::optional<Outcome> outcome_of(const Contrast& contrast, const Cell& cell) {
  if (!contrast.claim.kind || !cell.primary) return {};
  if (contrast.verdict == Verdict::not_learned) return Outcome::not_learned;
  switch (*contrast.claim.kind) {
    case ClaimKind::superior:
      return outcome_of_difference(contrast, cell, Verdict::better);
    case ClaimKind::inferior:
      return outcome_of_difference(contrast, cell, Verdict::worse);
    case ClaimKind::noninferior:
      return outcome_of_margin(
          contrast, contrast.verdict == Verdict::no_worse || contrast.verdict == Verdict::better);
    case ClaimKind::equal:
      return outcome_of_margin(contrast, contrast.verdict == Verdict::equivalent);
  }
  return {};
}

std::string difference_text(const Contrast& contrast, const std::string& metric) {
  return "difference " + estimate_figure(contrast.mean, contrast.interval, metric);
}

/// "0.031 [0.020, 0.042]", as a positive size.
std::string size_text(const Contrast& contrast, const std::string& metric) {
  auto interval = contrast.interval;
  if (interval && contrast.mean < 0) interval = {-interval->high, -interval->low};
  return estimate_figure(std::abs(contrast.mean), interval, metric);
}

/// ", 3.2 % of the baseline (2.1 to 4.3)", as a positive size; empty for a share of right answers.
std::string relative_text(const Contrast& contrast, const std::string& metric) {
  if (!contrast.relative || !contrast.relative->interval) return "";
  if (const auto* known = config::find_metric(metric); known != nullptr && known->counts_right)
    return "";
  const double sign = contrast.relative->mean < 0 ? -100 : 100;
  const auto [low, high] = std::minmax(
      {sign * contrast.relative->interval->low, sign * contrast.relative->interval->high});
  return fmt::format(", {} % of the baseline ({} to {})",
                     percent_figure(sign * contrast.relative->mean), percent_figure(low),
                     percent_figure(high));
}

std::string p_equals(double p) {
  const auto text = p_figure(p);
  return text.starts_with('<') ? "p " + text : "p = " + text;
}

/// "p = 0.004 (joint 0.031)"
std::string p_text(const Test& test, Correction correction, int64_t comparisons) {
  // Of one comparison only earlier looks at the question correct it.
  if (comparisons < 2 || correction == Correction::none) return p_equals(test.adjusted_p);
  return fmt::format("{} ({} {})", p_equals(test.p), config::word_of(correction),
                     p_figure(test.adjusted_p));
}

std::string p_of_difference(const Contrast& contrast, const Judged& judged) {
  return p_text(contrast.difference, judged.correction, judged.comparisons);
}

/// The p of margins are always corrected by Holm's method.
std::string p_of_margin(const Contrast& contrast, const Judged& judged) {
  return p_text(contrast.within, Correction::holm, judged.comparisons);
}

/// "difference 0.01 [-0.02, 0.04], by the test of the margin [-0.01, 0.03], p = 0.008"
std::string margin_text(const Contrast& contrast, const std::string& metric, const Judged& judged) {
  auto text = difference_text(contrast, metric);
  if (const auto& of_test = contrast.within_interval)
    text += ", by the test of the margin " + format_metric(of_test, metric);
  return text + ", " + p_of_margin(contrast, judged);
}

std::string too_few_words(const Contrast& contrast) {
  const auto seeds = std::ssize(contrast.differences);
  const auto& why = *contrast.no_claim;
  return fmt::format(
      "{} seed{} can show {}{}; it takes {}", seeds, seeds == 1 ? "" : "s",
      contrast.claim.margin ? "neither a difference nor that it is small" : "no difference",
      why.comparisons == 0
          ? ""
          : fmt::format(" in {} comparisons by Holm's correction", why.comparisons),
      why.seeds_needed);
}

std::string uneven_words(const std::vector<UnevenSeed>& seeds) {
  std::vector<std::string> names;
  for (const auto& [seed, of_arm] : seeds)
    names.push_back(fmt::format("seed {} of {}", seed, of_arm ? "the arm" : "the baseline"));
  return fmt::format("{} has no value; compare.allow: [seeds] compares the others",
                     fmt::join(names, ", "));
}

std::string unlearned_words(const std::vector<Unlearned>& arms) {
  std::vector<std::string> names;
  for (const auto& [arm, test_set, exact_match] : arms)
    names.push_back(
        fmt::format("{} (exact match {} on {})", arm, format_metric(exact_match, kGate), test_set));
  return fmt::format(
      "{} did not learn the task within the trained length, which takes an exact match of {}",
      fmt::join(names, " and "), format_metric(kLearned, kGate));
}

std::string reason_words(const Contrast& contrast) {
  const auto& why = *contrast.no_claim;
  switch (why.reason) {
    case Reason::uneven:
      return uneven_words(why.uneven);
    case Reason::no_gate:
      return "no test set within the trained length shows that the task is learned";
    case Reason::not_learned:
      return unlearned_words(why.unlearned);
    case Reason::both_failed:
      return "neither arm gets a tenth of the examples right, so that they are alike says nothing";
    case Reason::censored:
      return "a run has not reached the target";
    case Reason::at_once:
      return "both runs of a seed were at the target at their first validation, so that nothing is "
             "known of their difference; validate more often (training.evaluate_every)";
    case Reason::unstable:
      return contrast.collapsed + " collapsed";
    case Reason::not_finite:
      return "a value is not finite";
    case Reason::crossed:
      return "a crossed study estimates components of variance, and its runs share seeds";
    case Reason::too_few_seeds:
      break;
  }
  return too_few_words(contrast);
}

std::string inconclusive_text(const Contrast& contrast, const std::string& metric,
                              const Judged& judged) {
  auto text = fmt::format("inconclusive: {}, {}", difference_text(contrast, metric),
                          p_of_difference(contrast, judged));
  if (contrast.claim.margin)
    text += fmt::format(
        " that there is one, {} that {} is smaller than {}", p_of_margin(contrast, judged),
        contrast.claim.kind == ClaimKind::noninferior ? "a loss" : "it", *contrast.claim.margin);
  return text;
}

/// "better in 5 of 6 seeds; ...", "worse in every pair of 8 (sign test p = 0.008); ..."
std::string signs_text(const Contrast& contrast, const Cell& cell, const Judged& judged) {
  const auto better = std::ranges::count_if(contrast.differences, [&](double d) {
    return cell.direction == Direction::higher ? d > 0 : d < 0;
  });
  const auto worse =
      std::ranges::count_if(contrast.differences, [](double d) { return d != 0; }) - better;
  const auto seeds = std::ssize(contrast.differences);
  const bool shown = contrast.sign.adjusted_p <= kLevel;
  const bool is_worse = shown && worse > better;
  const auto many = is_worse ? worse : better;
  auto text = fmt::format("{} in {}", is_worse ? "worse" : "better",
                          shown && many == seeds ? fmt::format("every pair of {}", seeds)
                                                 : fmt::format("{} of {} seeds", many, seeds));
  if (shown)
    text += fmt::format(" (sign test {})",
                        p_text(contrast.sign, judged.correction, judged.comparisons));
  return text + "; nothing is said about means";
}

std::string finding_text(const Contrast& contrast, const Cell& cell, const Judged& judged) {
  const auto& metric = cell.metric;
  switch (contrast.verdict) {
    case Verdict::better:
    case Verdict::worse:
      return fmt::format("{} by {}, {}", contrast.verdict == Verdict::better ? "better" : "worse",
                         size_text(contrast, metric) + relative_text(contrast, metric),
                         p_of_difference(contrast, judged));
    case Verdict::equivalent:
      return fmt::format("equivalent to {} within {}: {}", judged.baseline, *contrast.claim.margin,
                         margin_text(contrast, metric, judged));
    case Verdict::no_worse:
      return fmt::format("no worse: loses less than {} against {}: {}", *contrast.claim.margin,
                         judged.baseline, margin_text(contrast, metric, judged));
    case Verdict::inconclusive:
      return inconclusive_text(contrast, metric, judged);
    case Verdict::unstable:
      return fmt::format("unstable: {}; {}", reason_words(contrast),
                         signs_text(contrast, cell, judged));
    case Verdict::crossed:
    case Verdict::too_few_seeds:
      return fmt::format("{}; no claim: {}", difference_text(contrast, metric),
                         reason_words(contrast));
    case Verdict::not_learned:
    case Verdict::uneven:
    case Verdict::censored:
    case Verdict::not_tested:
      return "no claim: " + reason_words(contrast);
    case Verdict::exploratory:
      return "exploratory, not tested: " + difference_text(contrast, metric);
  }
  return "";
}

/// ", outside the source's regime (depth 2, in the source 12 to 24), so that this decides ..."
std::string regime_text(const Contrast& contrast) {
  if (contrast.outside.empty()) return "";
  return fmt::format(
      ", outside the source's regime ({}), so that this decides nothing about the source",
      fmt::join(contrast.outside, "; "));
}

std::string outcome_text(const Contrast& contrast) {
  if (!contrast.outcome) return "";
  const auto claim = fmt::format("the claim that it {}", phrase_of(*contrast.claim.kind));
  switch (*contrast.outcome) {
    case Outcome::agrees:
      return "; agrees with " + claim;
    case Outcome::other_sign:
      return "; has the other sign than " + claim;
    case Outcome::beyond_margin:
      return "; is beyond the margin of " + claim;
    case Outcome::no_effect_of_that_size:
      return fmt::format("; shows no effect of the published size, {:.3g}, and leaves open {}",
                         *contrast.claim.published, claim);
    case Outcome::inconclusive:
    case Outcome::not_learned:
      return "; leaves open " + claim;
  }
  return "";
}

std::string claim_text(const Contrast& contrast) {
  return outcome_text(contrast) + (contrast.outcome ? regime_text(contrast) : "");
}

std::string detectable_text(const Contrast& contrast, const Cell& cell) {
  const bool of_margin = contrast.claim.kind && config::needs_margin(*contrast.claim.kind);
  if (!is_tested(contrast.verdict) || !contrast.detectable || of_margin) return "";
  return "; " + detectable_words(positive_figure(*contrast.detectable, cell.metric));
}

}  // namespace

void judge(Contrast& contrast, const Cell& cell, const Judged& judged) {
  if (cell.primary) {
    contrast.no_claim = no_claim_of(contrast, cell, judged);
    contrast.verdict =
        contrast.no_claim ? verdict_of(contrast.no_claim->reason) : tested_verdict(contrast, cell);
  }
  contrast.outcome = outcome_of(contrast, cell);
  contrast.sentence =
      finding_text(contrast, cell, judged) + claim_text(contrast) + detectable_text(contrast, cell);
}

std::string no_claim_words(const Contrast& contrast) {
  return reason_words(contrast) + claim_text(contrast);
}

std::string_view phrase_of(ClaimKind kind) {
  switch (kind) {
    case ClaimKind::superior:
      return "is better";
    case ClaimKind::inferior:
      return "is worse";
    case ClaimKind::noninferior:
      return "is no worse";
    case ClaimKind::equal:
      return "is equal";
  }
  return "";
}

std::string effect_text(const Compared& one) {
  const auto& contrast = one.contrast();
  const auto& cell = one.cell;
  const auto seeds = std::ssize(contrast.differences);
  const auto* each = contrast.verdict == Verdict::crossed ? "pairs of seeds" : "seeds";
  if (std::ranges::count(contrast.differences, 0.0) == seeds)
    return fmt::format("the same {} as {}{}", display_name(cell.metric), one.baseline(),
                       seeds < 2 ? "" : fmt::format(" in all {} {}", seeds, each));
  const bool more = contrast.mean > 0;
  auto text = fmt::format("{} {} {} than {}",
                          value_beside(std::abs(contrast.mean), contrast.interval, cell.metric),
                          more ? "more" : "less", display_name(cell.metric), one.baseline());
  if (const auto& interval = contrast.interval) {
    const auto [low, high] = interval_ends(
        more ? *interval : statistics::Interval{-interval->high, -interval->low}, cell.metric);
    text += fmt::format(" ({} to {})", low, high);
  }
  if (seeds < 2) return text;
  const auto same =
      std::ranges::count_if(contrast.differences, [&](double d) { return more ? d > 0 : d < 0; });
  return text + (same == seeds ? fmt::format(", in all {} {}", seeds, each)
                               : fmt::format(", in {} of {} {}", same, seeds, each));
}

}  // namespace ablate::analysis
