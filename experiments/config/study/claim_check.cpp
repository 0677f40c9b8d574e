#include "experiments/config/study/claim_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/schema/rules.h"
#include "experiments/config/yaml/suggestion.h"

namespace ablate::config {
namespace {

constexpr int64_t kLongestStatement = 300;

bool is_statement(const std::string& text) {
  const auto characters =
      std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
  return characters > 0 && characters <= kLongestStatement && text.find('\n') == text.npos;
}

/// Reports a claim that breaks a rule or lacks its margin, and texts that cannot be statements.
void check_alone(const GivenClaim& given, ProblemList& problems) {
  const auto& [claim, path, section] = given;
  std::vector<BrokenRule> broken;
  collect_broken_rules(options::slot_of(claim), "", broken);
  for (const auto& rule : broken) {
    const auto key = join_path(rule.section, rule.key);
    problems.add(section.place(key), fmt::format("{}.{} {}", path, key, rule.why));
  }
  if (claim.kind && needs_margin(*claim.kind) && !claim.margin)
    problems.add(
        section.place("claim"),
        fmt::format("a claim that an arm is {} needs a margin; add {}.margin, the smallest "
                    "difference that matters",
                    word_of(*claim.kind), path));
  for (const auto& [key, text] : {std::pair{"says", &claim.says}, {"source", &claim.source}})
    if (section.has(key) && !claim.kind)
      problems.add(section.place(key),
                   fmt::format("{0}.{1} is of a claim; add {0}.claim, or leave it out", path, key));
    else if (section.has(key) && !is_statement(*text))
      problems.add(section.place(key), fmt::format("{}.{} must be one line of 1 to {} characters",
                                                   path, key, kLongestStatement));
}

/// Reports a margin that no difference of the metric can exceed.
void check_margin(const GivenClaim& given, const Metric& metric, ProblemList& problems) {
  const auto& margin = given.claim.margin;
  if (given.section.has("margin") && margin && *margin >= metric.high - metric.low)
    problems.add(given.section.place("margin"),
                 fmt::format("{}.margin is {}, but {} is between {} and {}, so no difference is "
                             "larger; give the smallest difference that matters",
                             given.path, *margin, metric.name, metric.low, metric.high));
}

/// Reports a published difference whose sign is not the claimed one.
void check_sign(const GivenClaim& given, const Metric& metric, ProblemList& problems) {
  const auto& [claim, path, section] = given;
  const double published = claim.published.value_or(0);
  if (!section.has("published") || published == 0 || metric.direction == Direction::neither ||
      !claim.kind || needs_margin(*claim.kind))
    return;
  const bool higher =
      (*claim.kind == ClaimKind::superior) == (metric.direction == Direction::higher);
  if ((published > 0) != higher)
    problems.add(section.place("published"),
                 fmt::format("{}.published is {}, but an arm that is {} has {} {}: it is the arm's "
                             "{} minus the baseline's; change its sign, or the claim",
                             path, published, word_of(*claim.kind), higher ? "more" : "less",
                             metric.label, metric.label));
}

/// Reports a claim by a margin of the study's metric if a task is compared by another one.
void check_metrics(const GivenClaim& given, const Comparison& comparison, ProblemList& problems) {
  const auto& kind = given.claim.kind;
  const auto other = std::ranges::find_if(
      comparison.metrics, [&](const auto& entry) { return entry.second != comparison.metric; });
  if (given.section.has("claim") && kind && needs_margin(*kind) &&
      other != comparison.metrics.end())
    problems.add(
        given.section.place("claim"),
        fmt::format("the claim {} has a margin of {}, but the task {} is compared by {}; "
                    "leave the claim out, or the task out of compare.metrics",
                    word_of(*kind), comparison.metric, in_quotes(other->first), other->second));
}

}  // namespace

bool require_known(const std::string& word, const std::vector<std::string>& known,
                   const WordPlace& place, ProblemList& problems) {
  if (std::ranges::find(known, word) != known.end()) return true;
  const bool metric = std::string_view(place.what) == "metric";
  problems.add(
      place.mark,
      fmt::format("unknown {} {} in {}{}", place.what, in_quotes(word), place.key,
                  metric ? hint_for_value(kMetricPath, word, known) : did_you_mean(word, known)));
  return false;
}

void check_claim(const GivenClaim& given, const Comparison& comparison, ProblemList& problems) {
  check_alone(given, problems);
  if (const auto* metric = find_metric(comparison.metric)) {
    check_margin(given, *metric, problems);
    check_sign(given, *metric, problems);
  }
  check_metrics(given, comparison, problems);
}

void read_claims_of_arms(const CompareOptions& options, const StudyNames& names,
                         Comparison& comparison, ProblemList& problems) {
  if (options.claims_of_arms.type != Value::Type::mapping)
    problems.add(options.claims_of_arms.mark,
                 "compare.arms must be a mapping of arms to their claims, such as { gelu: { claim: "
                 "equal, margin: 0.01 } }");
  for (const auto& entry : options.claims_of_arms.entries) {
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
    check_claim({own, path, given}, comparison, problems);
    comparison.arms[entry.key] = std::move(own);
  }
}

}  // namespace ablate::config
