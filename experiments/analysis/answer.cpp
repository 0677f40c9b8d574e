#include "experiments/analysis/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "experiments/analysis/control.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/ladder_sentence.h"
#include "experiments/analysis/verdict.h"

namespace ablate::analysis {
namespace {

/// An arm's cell on one test set, and the arm that it is compared with.
struct Claimed {
  const ArmEvidence* baseline;
  const Cell* cell;
};

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string enumerated(std::vector<std::string> parts) {
  const auto last = parts.back();
  parts.pop_back();
  return parts.empty() ? last : joined(parts, ", ") + " and " + last;
}

std::string verdict_words(const Contrast& contrast) {
  auto words = display_name(contrast.verdict);
  if (contrast.verdict == Verdict::equivalent || contrast.verdict == Verdict::no_worse)
    words +=
        fmt::format(" ({} {})", contrast.verdict == Verdict::equivalent ? "within" : "by less than",
                    *contrast.claim.margin);
  if (contrast.outcome && contrast.outcome != Outcome::not_learned)
    words += fmt::format("; {} the claim that it {}",
                         contrast.outcome == Outcome::agrees        ? "agrees with"
                         : contrast.outcome == Outcome::contradicts ? "contradicts"
                         : contrast.outcome == Outcome::no_effect_of_that_size
                             ? "no effect of the published size, inconclusive on"
                             : "inconclusive on",
                         phrase_of(*contrast.claim.kind));
  if (contrast.outcome && !contrast.outside.empty())
    words += ", outside its source's regime: " + joined(contrast.outside, "; ");
  return words;
}

/// The task and the test set of a sentence about an arm. Each is empty if the study has only one.
struct Context {
  std::string task, on;  // "copy-s", "on length 12"

  /// "copy-s, on length 12"
  std::string words() const { return on.empty() ? task : task + (task.empty() ? "" : ", ") + on; }
  /// "copy-s, on length 12, ", before an arm.
  std::string before() const { return words().empty() ? "" : words() + ", "; }
  /// The same at the beginning of a sentence. Tasks keep the case of their names.
  std::string start() const {
    auto text = before();
    if (task.empty() && text.starts_with('o')) text.front() = 'O';
    return text;
  }
};

/// More sentences than these stand on lines of their own, and the effects of so many inconclusive
/// comparisons are left to tables and charts.
constexpr size_t kFewSentences = 4;

/// " in copy-s and copy-m", " on length 12"; empty if there is one place alone.
std::string where(const std::vector<Context>& places) {
  const auto& [task, on] = places.front();
  if (task.empty() && on.empty()) return "";
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(place.words());
  const bool nested = !task.empty() && !on.empty();
  return (task.empty() ? " " : " in ") + (nested ? joined(names, "; ") : enumerated(names));
}

/// Names by a key that several have in common, in the order of the keys; each name once.
class Groups {
 public:
  void add(const std::string& key, const std::string& name) {
    auto group = std::ranges::find(groups_, key, [](const auto& one) { return one.first; });
    if (group == groups_.end()) group = groups_.insert(group, {key, {}});
    if (std::ranges::find(group->second, name) == group->second.end())
      group->second.push_back(name);
  }
  auto begin() const { return groups_.begin(); }
  auto end() const { return groups_.end(); }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> groups_;
};

/// An inconclusive comparison, other than that of the control, of which no more is expected.
struct Open {
  Context place;
  std::string arm, effect;
};

/// "a (0.1 more loss than base) and b (...)", or of many "a and b (language-s); ...", with each
/// place once.
std::string open_words(const std::vector<Open>& open) {
  std::vector<std::string> parts;
  if (open.size() <= kFewSentences) {
    for (const auto& [place, arm, effect] : open)
      parts.push_back(fmt::format("{}{} ({})", place.before(), arm, effect));
    return enumerated(parts);
  }
  Groups groups;
  for (const auto& one : open) groups.add(one.place.words(), one.arm);
  for (const auto& [place, arms] : groups)
    parts.push_back(enumerated(arms) + (place.empty() ? "" : " (" + place + ")"));
  return joined(parts, "; ");
}

/// A claim on an arm in one task and on one test set.
struct Claim {
  Context place;
  std::string arm, effect, verdict;
  const Contrast* contrast;
  const Cell* cell;
  std::string baseline;
};

/// Whether one sentence can say both: the same of the same arm.
bool say_the_same(const Claim& one, const Claim& other) {
  return one.arm == other.arm && one.verdict == other.verdict && one.baseline == other.baseline &&
         one.cell->metric == other.cell->metric &&
         (one.contrast->mean > 0) == (other.contrast->mean > 0);
}

/// "none: 0.21 to 0.94 less exact match than base in copy-s, copy-m and reverse-s: worse."
std::string sentence_of(const std::vector<Claim>& alike) {
  const auto& first = alike.front();
  if (alike.size() == 1)
    return fmt::format("{}{}: {}: {}.", first.place.start(), first.arm, first.effect,
                       first.verdict);
  std::vector<Context> places;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const auto& claim : alike) {
    places.push_back(claim.place);
    least = std::min(least, std::abs(claim.contrast->mean));
    most = std::max(most, std::abs(claim.contrast->mean));
  }
  const auto& metric = first.cell->metric;
  return fmt::format("{}: {} to {} {} {} than {}{}: {}.", first.arm, format_metric(least, metric),
                     format_metric(most, metric), first.contrast->mean > 0 ? "more" : "less",
                     display_name(metric), first.baseline, where(places), first.verdict);
}

/// A sentence for each claim; of many, those that say the same in one.
std::vector<std::string> sentences_of(const std::vector<Claim>& claims) {
  std::vector<std::vector<Claim>> groups;
  for (const auto& claim : claims) {
    const auto alike = claims.size() <= kFewSentences
                           ? groups.end()
                           : std::ranges::find_if(groups, [&](const std::vector<Claim>& group) {
                               return say_the_same(group.front(), claim);
                             });
    if (alike == groups.end())
      groups.push_back({claim});
    else
      alike->push_back(claim);
  }
  std::vector<std::string> sentences;
  for (const auto& group : groups) sentences.push_back(sentence_of(group));
  return sentences;
}

/// Comparisons without a claim, and why.
struct Silent {
  std::string arm, reason;
};

/// "No claim on a and b: seed 2 is missing." for each reason.
std::string silent_words(const std::vector<Silent>& silent) {
  Groups groups;
  for (const auto& one : silent) groups.add(one.reason, one.arm);
  std::vector<std::string> sentences;
  for (const auto& [reason, arms] : groups)
    sentences.push_back(fmt::format("No claim on {}: {}.", enumerated(arms), reason));
  return joined(sentences, " ");
}

/// The primary comparisons of the study in words.
struct Sentences {
  std::vector<Claim> claims;
  std::vector<std::string> unstable;
  std::vector<Open> inconclusive;
  std::vector<Silent> silent;

  void add(const Context& place, const ArmEvidence& arm, const Claimed& claimed) {
    const auto& contrast = *claimed.cell->contrast;
    const auto effect = effect_text(contrast, *claimed.cell, claimed.baseline->name);
    if (is_claim(contrast.verdict) || contrast.outcome == Outcome::contradicts)
      claims.push_back({place, arm.name, effect, verdict_words(contrast), &contrast, claimed.cell,
                        claimed.baseline->name});
    else if (contrast.verdict == Verdict::inconclusive && !arm.control)
      inconclusive.push_back({place, arm.name, effect});
    else if (contrast.verdict == Verdict::unstable)
      unstable.push_back(fmt::format("{}{}: {}.", place.start(), arm.name, contrast.sentence));
    else if (contrast.no_claim)
      silent.push_back({arm.name + where({place}), no_claim_words(contrast)});
  }
};

Context place_of(const Evidence& evidence, const TaskEvidence& task, const Cell& cell) {
  const bool test_sets = std::ranges::count(task.arms.front().cells, true, &Cell::primary) > 1;
  Context place{.task = evidence.tasks.size() > 1 ? task.name : "", .on = ""};
  if (cell.over && config::is_over_lengths(*cell.over))
    place.on = "over " + cell.test_set;
  else if (test_sets && !cell.test_set.empty())
    place.on = "on " + cell.test_set + (cell.extrapolates ? " (beyond the trained length)" : "");
  return place;
}

/// The first sentences of an answer, from ladders over one axis, and the cells that they cover.
struct Lead {
  std::vector<std::string> sentences;
  std::set<const Cell*> said;
  Arms arms;  // with a sentence of their own
};

/// The arm's cells at the rungs; empty of a baseline, and if one of them is not judged by a test.
std::vector<const Cell*> cells_at(const Evidence& evidence, const Ladder& ladder,
                                  const LadderArm& arm) {
  std::vector<const Cell*> cells;
  if (arm.effects.empty()) return cells;
  for (const auto& rung : ladder.rungs) {
    const auto task = std::ranges::find(evidence.tasks, rung.setting, &TaskEvidence::name);
    const auto own = std::ranges::find(task->arms, arm.name, &ArmEvidence::name);
    const auto* cell = find_cell(*own, ladder.test_set, ladder.metric);
    if (cell == nullptr || !cell->contrast || !is_tested(cell->contrast->verdict)) return {};
    cells.push_back(cell);
  }
  return cells;
}

/// "copy, on length 12, ", as far as it tells the ladder from others.
std::string start_of(const Ladder& ladder, const std::vector<Ladder>& all) {
  const auto differs = [&](std::string Ladder::*part) {
    return std::ranges::any_of(all, [&](const auto& one) { return one.*part != ladder.*part; });
  };
  const bool named = differs(&Ladder::task) || ladder.task == kAllTasks;
  return Context{.task = named ? ladder.task : "",
                 .on = differs(&Ladder::test_set) ? "on " + ladder.test_set : ""}
      .start();
}

/// Adds a sentence for each arm of the ladder but an inconclusive control; of many, those
/// inconclusive at every rung share one.
void add_lead(const Evidence& evidence, const Ladder& ladder, Lead& lead) {
  const auto start = start_of(ladder, evidence.ladders);
  const bool many = ladder.arms.size() > kFewSentences;
  std::vector<std::string> open;
  for (const auto& arm : ladder.arms) {
    const auto cells = cells_at(evidence, ladder, arm);
    if (cells.empty()) continue;
    lead.said.insert(cells.begin(), cells.end());
    std::vector<std::string> verdicts;
    for (const auto* cell : cells) verdicts.push_back(verdict_words(*cell->contrast));
    const auto is_open = [](const Cell* cell) {
      return cell->contrast->verdict == Verdict::inconclusive;
    };
    const bool all_open = std::ranges::all_of(cells, is_open);
    if (all_open && is_control(evidence, arm.name)) continue;
    if (many && all_open) {
      open.push_back(arm.name);
      continue;
    }
    lead.sentences.push_back(
        fmt::format("{}{}: {}.", start, arm.name, lead_of(ladder, arm, verdicts)));
    lead.arms.insert(&arm);
  }
  if (!open.empty())
    lead.sentences.push_back(fmt::format("{}{} at {}: {}.", start,
                                         start.empty() ? "Inconclusive" : "inconclusive",
                                         all_rungs(ladder), enumerated(open)));
}

Lead leads_of(const Evidence& evidence) {
  Lead lead;
  const auto& ladders = evidence.ladders;
  // With several axes every comparison is part of several ladders.
  if (std::ranges::any_of(ladders,
                          [&](const Ladder& one) { return one.axis != ladders.front().axis; }))
    return lead;
  for (const auto& ladder : ladders) add_lead(evidence, ladder, lead);
  return lead;
}

Sentences comparisons_of(const Evidence& evidence, const std::set<const Cell*>& said) {
  Sentences sentences;
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells)
        if (const auto* baseline = baseline_of(task, arm);
            cell.primary && cell.contrast && baseline != nullptr && !said.contains(&cell))
          sentences.add(place_of(evidence, task, cell), arm, {baseline, &cell});
  return sentences;
}

/// The effects, and the first reason of a verdict for making no claim.
std::string no_claim(const Evidence& evidence) {
  std::string effects, reason = "there is no finished comparison";
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) {
        if (!cell.contrast || !cell.contrast->no_claim) continue;
        if (effects.empty()) reason = no_claim_words(*cell.contrast);
        if (!std::isnan(cell.contrast->mean))
          effects += fmt::format("{}{}: {}. ", place_of(evidence, task, cell).start(), arm.name,
                                 effect_text(*cell.contrast, cell, baseline_of(task, arm)->name));
      }
  return effects + "No claim: " + reason + ".";
}

}  // namespace

std::string answer_of(const Evidence& evidence) {
  if (!evidence.baseline && evidence.declared_baseline)
    return fmt::format("No claim: the baseline {} is not among the selected arms.",
                       *evidence.declared_baseline);
  if (!evidence.baseline) return "No claim: the study declares no baseline.";
  const auto lead = leads_of(evidence);
  const auto sentences = comparisons_of(evidence, lead.said);
  std::vector<std::string> parts;
  auto claims = lead.sentences;
  std::ranges::move(sentences_of(sentences.claims), std::back_inserter(claims));
  std::ranges::copy(sentences.unstable, std::back_inserter(claims));
  const auto& inconclusive = sentences.inconclusive;
  const auto* separator =
      claims.size() > kFewSentences || inconclusive.size() > kFewSentences ? "\n" : " ";
  if (!claims.empty()) parts.push_back(joined(claims, separator));
  if (!inconclusive.empty()) parts.push_back("Inconclusive: " + open_words(inconclusive) + ".");
  if (claims.empty() && inconclusive.empty())
    parts.push_back(no_claim(evidence));
  else if (!sentences.silent.empty())
    parts.push_back(silent_words(sentences.silent));
  if (auto headline = headline_of(evidence.ladders, lead.arms); !headline.empty())
    parts.push_back(std::move(headline));
  return control_warning(evidence) + joined(parts, separator);
}

}  // namespace ablate::analysis
