#include "experiments/config/study/claim_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/yaml/suggestion.h"

namespace ablate::config {
namespace {

/// Reports a published difference without a claim that it belongs to.
void check_published(const ArmClaimOptions& options, const std::string& path, const Mark& mark,
                     ProblemList& problems) {
  if (!options.claim || needs_margin(*options.claim))
    problems.add(mark, fmt::format("{}.published is of a claim that an arm is superior or "
                                   "inferior; give it that claim, or leave it out",
                                   path));
  else if (!std::isfinite(*options.published) || *options.published == 0)
    problems.add(mark, fmt::format("{}.published must be a number other than 0", path));
}

constexpr int64_t kLongestStatement = 300;

bool is_statement(const std::string& text) {
  const auto characters =
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
  return characters > 0 && characters <= kLongestStatement && text.find('\n') == text.npos;
}

/// Reports a statement or a source without a claim that it belongs to, or of several lines.
void check_statement(const ArmClaimOptions& options, const std::string& path, const Tree& section,
                     ProblemList& problems) {
  const auto check = [&](const char* key, const std::string& text) {
    if (!section.has(key)) return;
    if (!options.claim)
      problems.add(section.place(key), fmt::format("{}.{} is of a claim; add {}.claim, or leave it "
                                                   "out",
                                                   path, key, path));
    else if (!is_statement(text))
      problems.add(section.place(key), fmt::format("{}.{} must be one line of 1 to {} characters",
                                                   path, key, kLongestStatement));
  };
  check("says", options.says);
  check("source", options.source);
}

/// Reports ranges of a regime that are not ascending positive numbers.
void check_ranges(const RegimeOptions& regime, const std::string& path, const Tree& section,
                  ProblemList& problems) {
  RegimeOptions::fields(
      regime, [&](const std::string& name, const std::optional<Range>& range, auto&&...) {
        if (range && !is_range(*range))
          problems.add(section.place("regime." + name),
                       fmt::format("{}.regime.{} must be the lowest and the highest of positive "
                                   "numbers, such as [1.0e6, 1.0e8]",
                                   path, name));
      });
}

/// Reports a margin that is not positive, a claim without the one that it needs, and a forecast
/// that does not ascend; `section` holds the values that were given at `path`.
ArmClaim checked_claim(const ArmClaimOptions& options, const std::string& path, const Tree& section,
                       ProblemList& problems) {
  if (options.margin && (!std::isfinite(*options.margin) || *options.margin <= 0))
    problems.add(section.place("margin"), path + ".margin must be positive");
  if (options.claim && needs_margin(*options.claim) && !options.margin)
    problems.add(
        section.place("claim"),
        fmt::format("a claim that an arm is {} needs a margin; add {}.margin, the smallest "
                    "difference that matters",
                    word_of(*options.claim), path));
  if (options.forecast && !ascends(*options.forecast))
    problems.add(section.place("forecast"), path + ".forecast must be three ascending quantiles");
  if (options.published) check_published(options, path, section.place("published"), problems);
  check_statement(options, path, section, problems);
  check_ranges(options.regime, path, section, problems);
  return {options.claim,  options.margin, options.forecast, options.published,
          options.regime, options.says,   options.source};
}

/// Reports margins that no difference of the metric can exceed.
void check_margins(const CompareOptions& options, const Tree& tree, const Comparison& comparison,
                   ProblemList& problems) {
  const auto* metric = find_metric(comparison.metric);
  if (metric == nullptr) return;
  const auto check = [&](const ArmClaim& claim, const std::string& path, const Mark& mark) {
    if (claim.margin && std::isfinite(*claim.margin) && *claim.margin >= metric->high - metric->low)
      problems.add(mark, fmt::format("{} is {}, but {} is between {} and {}, so no difference is "
                                     "larger; give the smallest difference that matters",
                                     path, *claim.margin, metric->name, metric->low, metric->high));
  };
  check(comparison.claim, "compare.margin", tree.place("compare.margin"));
  for (const auto& entry : options.arms.entries)
    if (const auto* margin = entry.value.find("margin"))
      check(comparison.arms.at(entry.key), fmt::format("compare.arms.{}.margin", entry.key),
            margin->value.mark);
}

/// Reports a published difference whose sign is not the claimed one.
void check_signs(const CompareOptions& options, const Tree& tree, const Comparison& comparison,
                 ProblemList& problems) {
  const auto* metric = find_metric(comparison.metric);
  if (metric == nullptr || metric->direction == Direction::neither) return;
  const auto check = [&](const ArmClaim& claim, const std::string& path, const Mark& mark) {
    if (!claim.published || *claim.published == 0 || !claim.kind || needs_margin(*claim.kind))
      return;
    const bool higher =
        (*claim.kind == ClaimKind::superior) == (metric->direction == Direction::higher);
    if ((*claim.published > 0) != higher)
      problems.add(
          mark, fmt::format("{} is {}, but an arm that is {} has {} {}: it is the arm\'s {} minus "
                            "the baseline\'s; change its sign, or the claim",
                            path, *claim.published, word_of(*claim.kind), higher ? "more" : "less",
                            metric->label, metric->label));
  };
  check(comparison.claim, "compare.published", tree.place("compare.published"));
  for (const auto& entry : options.arms.entries)
    if (const auto* published = entry.value.find("published"))
      check(comparison.arms.at(entry.key), fmt::format("compare.arms.{}.published", entry.key),
            published->value.mark);
}

/// Reports claims by a margin of the study's metric if a task is compared by another one.
void check_claims_of_metric(const CompareOptions& options, const Tree& tree,
                            const Comparison& comparison, ProblemList& problems) {
  const auto other = std::ranges::find_if(
      comparison.metrics, [&](const auto& entry) { return entry.second != comparison.metric; });
  if (other == comparison.metrics.end()) return;
  const auto check = [&](const std::optional<ClaimKind>& claim, const Mark& mark) {
    if (claim && needs_margin(*claim))
      problems.add(mark, fmt::format("the claim {} has a margin of {}, but the task {} is compared "
                                     "by {}; leave the claim out, or the task out of "
                                     "compare.metrics",
                                     word_of(*claim), comparison.metric, in_quotes(other->first),
                                     other->second));
  };
  check(comparison.claim.kind, tree.place("compare.claim"));
  for (const auto& entry : options.arms.entries)
    if (const auto* claim = entry.value.find("claim"))
      check(comparison.arms.at(entry.key).kind, claim->value.mark);
}

}  // namespace

void require_known(const std::string& word, const std::vector<std::string>& known,
                   const WordPlace& place, ProblemList& problems) {
  if (std::ranges::find(known, word) != known.end()) return;
  const bool metric = std::string_view(place.what) == "metric";
  problems.add(
      place.mark,
      fmt::format("unknown {} {} in {}{}", place.what, in_quotes(word), place.key,
                  metric ? hint_for_value(kMetricPath, word, known) : did_you_mean(word, known)));
}

ArmClaim check_claim(const CompareOptions& options, const Tree& section, ProblemList& problems) {
  return checked_claim(options.claim, "compare", section, problems);
}

std::map<std::string, ArmClaim> claims_of_arms(const CompareOptions& options,
                                               const StudyNames& names, ProblemList& problems) {
  std::map<std::string, ArmClaim> claims;
  if (options.arms.type != Value::Type::mapping)
    problems.add(options.arms.mark,
                 "compare.arms must be a mapping of arms to their claims, such as { gelu: { claim: "
                 "equal, margin: 0.01 } }");
  for (const auto& entry : options.arms.entries) {
    require_known(entry.key, names.arms, {"arm", "compare.arms", entry.mark}, problems);
    if (entry.key == options.baseline)
      problems.add(entry.mark, fmt::format("{} is the baseline, so nothing is claimed of it; leave "
                                           "it out of compare.arms",
                                           in_quotes(entry.key)));
    if (entry.value.type == Value::Type::mapping && entry.value.entries.empty())
      problems.add(entry.mark, fmt::format("compare.arms says nothing of {}; give it a claim or a "
                                           "margin, or leave it out",
                                           in_quotes(entry.key)));
    const auto path = "compare.arms." + entry.key;
    auto own = options.claim;
    auto given = read(entry.value, options::slot_of(own), {study_schema(), problems, path});
    given.root.mark = entry.mark;
    if (given.has("claim") && !given.has("published")) own.published.reset();
    if (given.has("claim") && !given.has("says")) own.says.clear();
    claims[entry.key] = checked_claim(own, path, given, problems);
  }
  return claims;
}

void check_claims(const CompareOptions& options, const Tree& tree, const Comparison& comparison,
                  ProblemList& problems) {
  check_margins(options, tree, comparison, problems);
  check_signs(options, tree, comparison, problems);
  check_claims_of_metric(options, tree, comparison, problems);
}

}  // namespace ablate::config
