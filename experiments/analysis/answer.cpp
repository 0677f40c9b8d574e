#include "experiments/analysis/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/control.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/ladder_sentence.h"
#include "experiments/analysis/lists.h"
#include "experiments/analysis/verdict.h"

namespace ablate::analysis {
namespace {

std::string verdict_words(const Contrast& contrast) {
  auto words = display_name(contrast.verdict);
  if (contrast.verdict == Verdict::equivalent || contrast.verdict == Verdict::no_worse)
    words +=
        fmt::format(" ({} {})", contrast.verdict == Verdict::equivalent ? "within" : "by less than",
                    *contrast.claim.margin);
  if (contrast.outcome && contrast.outcome != Outcome::not_learned)
    words += fmt::format("; {} the claim that it {}",
                         contrast.outcome == Outcome::agrees          ? "agrees with"
                         : contrast.outcome == Outcome::other_sign    ? "the other sign than"
                         : contrast.outcome == Outcome::beyond_margin ? "beyond the margin of"
                         : contrast.outcome == Outcome::no_effect_of_that_size
                             ? "no effect of the published size, inconclusive on"
                             : "inconclusive on",
                         phrase_of(*contrast.claim.kind));
  if (contrast.outcome && !contrast.outside.empty())
    words += fmt::format(", outside its source's regime: {}", fmt::join(contrast.outside, "; "));
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
  const bool nested = !task.empty() && !on.empty();
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(place.words());
  return (task.empty() ? " " : " in ") +
         (nested ? fmt::format("{}", fmt::join(names, "; ")) : enumerated(names));
}

/// A primary comparison, its place and its effect in words.
struct Finding {
  Context place;
  Compared of;
  std::string effect, verdict;

  const std::string& arm() const { return of.arm.name; }
};

/// "a (0.1 more loss than base) and b (...)", or of many "a and b (language-s); ...", with each
/// place once.
std::string open_words(const std::vector<Finding>& open) {
  if (open.size() <= kFewSentences)
    return enumerated(open, [](const Finding& one) {
      return fmt::format("{}{} ({})", one.place.before(), one.arm(), one.effect);
    });
  std::vector<std::string> parts;
  for (const auto& [place, findings] :
       grouped(open, [](const Finding& one) { return one.place.words(); }))
    parts.push_back(enumerated(findings, &Finding::arm) +
                    (place.empty() ? "" : " (" + place + ")"));
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// "none: 0.21 to 0.94 less exact match than base in copy-s, copy-m and reverse-s: worse."
std::string sentence_of(const std::vector<Finding>& alike) {
  const auto& first = alike.front();
  if (alike.size() == 1)
    return fmt::format("{}{}: {}: {}.", first.place.start(), first.arm(), first.effect,
                       first.verdict);
  std::vector<Context> places;
  std::vector<double> sizes;
  for (const auto& claim : alike) {
    places.push_back(claim.place);
    sizes.push_back(std::abs(claim.of.contrast().mean));
  }
  const auto [least, most] = std::ranges::minmax(sizes);
  const auto& metric = first.of.cell.metric;
  const auto [low, high] = interval_ends({least, most}, metric);
  return fmt::format("{}: {} to {} {} {} than {}{}: {}.", first.arm(), low, high,
                     first.of.contrast().mean > 0 ? "more" : "less", display_name(metric),
                     first.of.baseline(), where(places), first.verdict);
}

/// A sentence for each claim; of many, those that say the same of the same arm in one.
std::vector<std::string> sentences_of(const std::vector<Finding>& claims) {
  std::vector<std::string> sentences;
  if (claims.size() <= kFewSentences) {
    for (const auto& claim : claims) sentences.push_back(sentence_of({claim}));
    return sentences;
  }
  const auto said = [](const Finding& one) {
    return std::tuple(one.arm(), one.verdict, one.of.baseline(), one.of.cell.metric,
                      one.of.contrast().mean > 0);
  };
  for (const auto& [key, alike] : grouped(claims, said)) sentences.push_back(sentence_of(alike));
  return sentences;
}

/// Comparisons without a claim, and why.
struct Silent {
  std::string arm, reason;
};

/// "No claim on a and b: seed 2 is missing." for each reason.
std::string silent_words(const std::vector<Silent>& silent) {
  std::vector<std::string> sentences;
  for (const auto& [reason, alike] : grouped(silent, &Silent::reason))
    sentences.push_back(
        fmt::format("No claim on {}: {}.", enumerated(alike, &Silent::arm), reason));
  return fmt::format("{}", fmt::join(sentences, " "));
}

/// The primary comparisons of the study in words.
struct Sentences {
  std::vector<Finding> claims, inconclusive;
  std::vector<std::string> unstable;
  std::vector<Silent> silent;

  void add(const Context& place, const Compared& one) {
    const auto& contrast = one.contrast();
    const auto& arm = one.arm.name;
    Finding finding{place, one, effect_text(one), verdict_words(contrast)};
    if (is_claim(contrast.verdict) || contrast.outcome == Outcome::other_sign ||
        contrast.outcome == Outcome::beyond_margin)
      claims.push_back(std::move(finding));
    else if (contrast.verdict == Verdict::inconclusive && !one.arm.control)
      inconclusive.push_back(std::move(finding));
    else if (contrast.verdict == Verdict::unstable)
      unstable.push_back(fmt::format("{}{}: {}.", place.start(), arm, contrast.sentence));
    else if (contrast.no_claim)
      silent.push_back({arm + where({place}), no_claim_words(contrast)});
  }
};

Context place_of(const Evidence& evidence, const Compared& one) {
  const auto& [task, arm, cell] = one;
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
    const auto* task = find_named(evidence.tasks, rung.setting);
    const auto* cell = find_cell(*find_named(task->arms, arm.name), ladder.test_set, ladder.metric);
    if (cell == nullptr || !cell->contrast || !is_tested(cell->contrast->verdict)) return {};
    cells.push_back(cell);
  }
  return cells;
}

/// "copy, kind=rms, on length 12, ", as far as it tells the ladder from others.
std::string start_of(const Ladder& ladder, const std::vector<Ladder>& all) {
  std::vector<std::string> place;
  if (vary(all, &Ladder::task) || ladder.task == kAllTasks) place.push_back(ladder.task);
  if (vary(all, &Ladder::at)) place.push_back(ladder.at);
  return Context{.task = fmt::format("{}", fmt::join(place, ", ")),
                 .on = vary(all, &Ladder::test_set) ? "on " + ladder.test_set : ""}
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
  if (vary(ladders, &Ladder::axis)) return lead;
  for (const auto& ladder : ladders) add_lead(evidence, ladder, lead);
  return lead;
}

Sentences sentences_on(const Evidence& evidence, const std::set<const Cell*>& said) {
  Sentences sentences;
  for (const auto& one : compared_in(evidence.tasks))
    if (one.cell.primary && !said.contains(&one.cell)) sentences.add(place_of(evidence, one), one);
  return sentences;
}

/// The effects, and why no claim is made.
std::string no_claim(const Evidence& evidence, const std::vector<Silent>& silent) {
  std::string effects;
  for (const auto& one : compared_in(evidence.tasks))
    if (one.contrast().no_claim && !std::isnan(one.contrast().mean))
      effects += fmt::format("{}{}: {}. ", place_of(evidence, one).start(), one.arm.name,
                             effect_text(one));
  if (silent.empty()) return "No claim: there is no comparison with values on both sides.";
  const bool alike = std::ranges::all_of(
      silent, [&](const Silent& one) { return one.reason == silent.front().reason; });
  return effects + (alike ? "No claim: " + silent.front().reason + "." : silent_words(silent));
}

}  // namespace

std::string answer_of(const Evidence& evidence) {
  if (!evidence.baseline && evidence.declared_baseline)
    return fmt::format("No claim: the baseline {} is not among the selected arms.",
                       *evidence.declared_baseline);
  if (!evidence.baseline) return "No claim: the study declares no baseline.";
  const auto lead = leads_of(evidence);
  const auto sentences = sentences_on(evidence, lead.said);
  std::vector<std::string> parts;
  auto claims = lead.sentences;
  std::ranges::move(sentences_of(sentences.claims), std::back_inserter(claims));
  std::ranges::copy(sentences.unstable, std::back_inserter(claims));
  const auto& inconclusive = sentences.inconclusive;
  const auto* separator =
      claims.size() > kFewSentences || inconclusive.size() > kFewSentences ? "\n" : " ";
  if (!claims.empty()) parts.push_back(fmt::format("{}", fmt::join(claims, separator)));
  if (!inconclusive.empty()) parts.push_back("Inconclusive: " + open_words(inconclusive) + ".");
  if (claims.empty() && inconclusive.empty())
    parts.push_back(no_claim(evidence, sentences.silent));
  else if (!sentences.silent.empty())
    parts.push_back(silent_words(sentences.silent));
  if (auto headline = headline_of(evidence.ladders, lead.arms); !headline.empty())
    parts.push_back(std::move(headline));
  return fmt::format("{}{}", control_warning(evidence), fmt::join(parts, separator));
}

}  // namespace ablate::analysis
