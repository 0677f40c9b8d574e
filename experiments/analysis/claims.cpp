#include "experiments/analysis/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/analysis/compared.h"
#include "experiments/analysis/contrast.h"
#include "experiments/analysis/family.h"
#include "experiments/analysis/lists.h"
#include "experiments/analysis/regime.h"
#include "experiments/analysis/statistics/collapse.h"
#include "experiments/analysis/verdict.h"

namespace ablate::analysis {
namespace {

/// Two arms with less than this share of right answers are not called equal.
constexpr double kFailed = 0.1;

/// The seeds that only one of the two has finished.
std::vector<UnevenSeed> uneven_seeds(const Sample& arm, const Sample& baseline,
                                     const std::vector<int64_t>& seeds) {
  std::vector<UnevenSeed> uneven;
  for (size_t i = 0; i < seeds.size(); ++i)
    if (std::isnan(arm.values[i]) != std::isnan(baseline.values[i]))
      uneven.push_back({seeds[i], std::isnan(arm.values[i])});
  return uneven;
}

/// Whether the metric is of the whole run; its only cell then has no test set.
bool is_of_run(const std::string& metric) {
  const auto* known = config::find_metric(metric);
  return known != nullptr && known->on.empty();
}

std::vector<std::string> names_of_test_sets(const TaskEvidence& task, bool (*wanted)(const Cell&)) {
  std::vector<std::string> names;
  for (const auto& cell : task.arms.front().cells)
    if (cell.metric == task.metric && wanted(cell)) names.push_back(cell.test_set);
  return names;
}

std::vector<std::string> primary_sets(const TaskEvidence& task,
                                      const config::Comparison& comparison) {
  if (config::is_over_lengths(comparison.over))
    return names_of_test_sets(task, [](const Cell& cell) { return cell.over.has_value(); });
  const auto named = comparison.test_sets.find(task.name);
  if (named != comparison.test_sets.end()) return named->second;
  const auto within = names_of_test_sets(task, [](const Cell& cell) { return !cell.extrapolates; });
  return within.empty() ? names_of_test_sets(task, [](const Cell&) { return true; }) : within;
}

std::vector<std::string> primary_names(const TaskEvidence& task) {
  return names_of_test_sets(task, [](const Cell& cell) { return cell.primary; });
}

/// A sentence that names the averaged test sets; empty if each is compared by itself.
std::string over_text(const TaskEvidence& task) {
  const auto& cells = task.arms.front().cells;
  const auto cell = std::ranges::find(cells, true, &Cell::primary);
  if (cell == cells.end() || !cell->over) return "";
  if (*cell->over == config::Over::tasks)
    return " The mean over the tasks is compared; each task by itself is exploratory.";
  return *cell->over == config::Over::lengths
             ? " The mean over the lengths is compared."
             : " The area over log length is compared, divided by the range of log length.";
}

/// "The p values are corrected for all 4 primary comparisons of copy: 2 arms on length 12 and
/// length 13."
std::string family_text(const TaskEvidence& task, int64_t arms, int64_t settings,
                        const Family& family) {
  const auto sets = primary_names(task);
  const auto over = over_text(task);
  const auto names = sets.empty() || is_of_run(task.metric)
                         ? ""
                         : (over.empty() ? " on " : " over ") + enumerated(sets);
  auto text = task.comparisons == 1
                  ? std::string("The p values are of the one primary comparison of")
                  : fmt::format("The p values are corrected for all {} primary comparisons of",
                                task.comparisons);
  text += fmt::format(" {}: {} arm{}{}{}.", task.setting.task, arms, arms == 1 ? "" : "s", names,
                      settings == 1 ? "" : fmt::format(" in {} settings", settings));
  text += over;
  if (task.correction == Correction::min_p)
    text +=
        " The signs of a seed are flipped in all of them together, and their own p are compared "
        "(min-P).";
  if (task.correction == Correction::joint)
    text += " The signs of a seed are flipped in all of them together.";
  if (family.test == config::PairedTest::e_value)
    text += " Each is one over an e-value, corrected by Holm's method, and holds at every look.";
  else if (task.correction == Correction::holm)
    text +=
        " Holm's method corrects them, since not all are tested by sign flips of the same seeds.";
  if (family.look > 0)
    text += fmt::format(
        " All are multiplied by {:.3g}, since this is registered study {} of its question.",
        family.look_factor(), family.look);
  if (names_of_test_sets(task, [](const Cell&) { return true; }).size() > sets.size())
    text += " The other test sets are exploratory: their differences are shown, not tested.";
  return text;
}

/// The comparisons that the study's file declares for the settings of one task.
struct DeclaredFamily {
  int64_t settings = 0, arms = 0, with_margins = 0;  // arms of one setting
  int64_t sets = 0;                                  // test sets of all settings together

  int64_t comparisons() const { return arms * sets; }
};

/// The primary test sets of so many declared settings. One without a finished run counts with as
/// many as any other has.
int64_t count_sets(std::span<const TaskEvidence> settings, int64_t declared) {
  int64_t sum = 0, most = 0;
  for (const auto& setting : settings) {
    const int64_t sets = std::ssize(primary_names(setting));
    sum += sets;
    most = std::max(most, sets);
    if (sets > 0) --declared;
  }
  return sum + declared * most;
}

DeclaredFamily declared_family(std::span<const TaskEvidence> settings, const config::Study& study) {
  const auto& task = settings.front();
  DeclaredFamily family;
  // Every task has the same sizes and points.
  const auto& name = task.parts.empty() ? task.setting.task : study.declared_settings.front().task;
  family.settings = std::ranges::count(study.declared_settings, name, &config::Setting::task);
  family.sets = count_sets(settings, family.settings);
  const auto arms = compared_arms(task, study);
  family.arms = std::ssize(arms);
  family.with_margins = std::ranges::count_if(arms, [&](const std::string& arm) {
    return config::claim_of(*study.compare, task.name, arm).margin.has_value();
  });
  return family;
}

/// The collapsed seeds among those that have finished.
std::vector<size_t> collapsed_in(const Cell& cell) {
  std::vector<size_t> places, collapsed;
  std::vector<double> values;
  for (size_t i = 0; i < cell.sample.values.size(); ++i) {
    if (std::isnan(cell.sample.values[i])) continue;
    places.push_back(i);
    values.push_back(cell.sample.values[i]);
  }
  for (const size_t i :
       statistics::collapsed_seeds(values, cell.direction == Direction::higher, cell.range))
    collapsed.push_back(places[i]);
  return collapsed;
}

void mark_collapsed(TaskEvidence& task) {
  for (auto& arm : task.arms)
    for (auto& cell : arm.cells)
      if (cell.primary && !is_censored(cell.sample)) cell.sample.collapsed = collapsed_in(cell);
}

/// The intervals of means by the test of the study.
void set_intervals(TaskEvidence& task, config::PairedTest test) {
  for (auto& arm : task.arms)
    for (auto& cell : arm.cells)
      if (!has_bounds(cell.sample))
        cell.sample.interval = interval_of(finished_values(cell.sample), test, cell.range);
}

/// "2 of 8 seeds, 1 of 8 of base": the collapsed seeds of the arm and of the baseline; empty if
/// all seeds trained.
std::string collapsed_text(const Sample& arm, const Sample& reference,
                           const std::string& baseline) {
  std::string text;
  if (!arm.collapsed.empty()) text = fmt::format("{} of {} seeds", arm.collapsed.size(), arm.count);
  if (!reference.collapsed.empty())
    text += fmt::format("{}{} of {}{} of {}", text.empty() ? "" : ", ", reference.collapsed.size(),
                        reference.count, text.empty() ? " seeds" : "", baseline);
  return text;
}

Tested tested_of(Cell& cell, const Sample& reference) {
  Tested tested{.contrast = &*cell.contrast,
                .pairs = pairs_of(cell.sample, reference),
                .direction = cell.direction};
  for (const size_t i : tested.pairs) tested.baseline.push_back(reference.values[i]);
  return tested;
}

/// Adds the contrast of the cell to those that the family tests, or whose signs it tests. Without a
/// number for each seed it is left out.
void add_tested(Family& family, Cell& cell, const Sample& reference) {
  auto& contrast = *cell.contrast;
  if (contrast.differences.empty()) return;
  if (!statistics::all_finite(contrast.differences)) {
    if (std::ranges::none_of(contrast.differences, [](double d) { return std::isnan(d); }))
      family.infinite.push_back(&contrast);
    return;
  }
  family.tested.push_back(tested_of(cell, reference));
  if (const auto& forecast = contrast.claim.forecast)
    contrast.forecast = statistics::score_of(*forecast, contrast.mean);
}

/// Adds the contrasts of the arm, and those of primary cells to the family.
void add_contrasts(TaskEvidence& task, ArmEvidence& arm, const config::Comparison& comparison,
                   Family& family) {
  const auto* baseline = baseline_of(task, arm);
  for (size_t i = 0; baseline != nullptr && i < arm.cells.size(); ++i) {
    auto& cell = arm.cells[i];
    const auto& reference = baseline->cells[i].sample;
    if (cell.sample.count == 0 || reference.count == 0) continue;
    const bool censored = is_censored(cell.sample) || is_censored(reference);
    if (censored && !cell.primary) continue;
    cell.contrast = contrast_of(cell, reference, comparison.test);
    if (!cell.primary) continue;
    cell.contrast->claim = config::claim_of(comparison, task.name, arm.name);
    add_tested(family, cell, reference);
  }
}

/// Cuts a joint interval, which may be unbounded, to the possible differences. An arm loses at most
/// all of a baseline that cannot be negative.
void keep_possible(Contrast& contrast, const Cell& cell, bool enough_seeds) {
  const auto possible = statistics::differences_in(cell.range);
  const bool tested = !std::isnan(contrast.difference.adjusted_p);
  if (!contrast.interval && tested && enough_seeds && std::isfinite(possible.high))
    contrast.interval = possible;
  if (contrast.interval) contrast.interval = statistics::clipped(*contrast.interval, possible);
  if (contrast.relative && contrast.relative->interval && cell.range.low >= 0)
    contrast.relative->interval =
        statistics::clipped(*contrast.relative->interval, {-1, statistics::kUnbounded.high});
}

/// Whether neither gets a tenth of the examples right, so that equality says nothing.
bool both_failed(const Cell& cell, const Sample& reference) {
  return cell.success && cell.sample.mean < kFailed && reference.mean < kFailed;
}

/// Runs that share seeds have no test, and no result that is computed from a test.
void leave_untested(std::span<TaskEvidence> settings, Family& family) {
  family.tested.clear();
  family.infinite.clear();
  for (auto& task : settings)
    for (auto& arm : task.arms)
      for (auto& cell : arm.cells)
        if (cell.contrast) cell.contrast->interval.reset();
}

/// Whether both runs of a seed were at the target at their first validation.
bool both_at_once(const Sample& arm, const Sample& baseline) {
  if (arm.at_once.empty() || baseline.at_once.empty()) return false;
  for (size_t i = 0; i < arm.at_once.size(); ++i)
    if (arm.at_once[i] && baseline.at_once[i]) return true;
  return false;
}

void judge_arm(TaskEvidence& task, ArmEvidence& arm, const config::Study& study, Judged judged) {
  const auto* baseline = baseline_of(task, arm);
  for (size_t i = 0; baseline != nullptr && i < arm.cells.size(); ++i) {
    auto& cell = arm.cells[i];
    if (!cell.contrast) continue;
    const auto& reference = baseline->cells[i].sample;
    judged.baseline = baseline->name;
    judged.no_claim.reset();
    if (auto uneven = uneven_seeds(cell.sample, reference, study.seeds);
        !uneven.empty() && !config::allows(*study.compare, config::Uneven::seeds))
      judged.no_claim = NoClaim{.reason = Reason::uneven, .uneven = std::move(uneven)};
    else if (cell.extrapolates)
      judged.no_claim =
          cell.over == config::Over::tasks ? cell.unlearned : not_learned(arm, *baseline);
    if (!judged.no_claim && (is_censored(cell.sample) || is_censored(reference)))
      judged.no_claim = NoClaim{.reason = Reason::censored};
    if (!judged.no_claim && both_at_once(cell.sample, reference))
      judged.no_claim = NoClaim{.reason = Reason::at_once};
    cell.contrast->outside = outside(cell.contrast->claim.regime, baseline->regime);
    cell.contrast->collapsed = collapsed_text(cell.sample, reference, baseline->name);
    judged.both_failed = both_failed(cell, reference);
    keep_possible(*cell.contrast, cell,
                  std::ssize(cell.contrast->differences) >= judged.seeds_for_difference);
    judge(*cell.contrast, cell, judged);
  }
}

}  // namespace

std::optional<NoClaim> not_learned(const ArmEvidence& arm, const ArmEvidence& baseline) {
  const auto* mine = cell_within(arm, kGate);
  const auto* others = cell_within(baseline, kGate);
  if (mine == nullptr || others == nullptr) return NoClaim{.reason = Reason::no_gate};
  NoClaim why{.reason = Reason::not_learned};
  for (const auto& [name, cell] : {std::pair{arm.name, mine}, std::pair{baseline.name, others}})
    if (std::isnan(cell->sample.mean) || config::is_above(kLearned, cell->sample.mean))
      why.unlearned.push_back({name, cell->test_set, cell->sample.mean});
  return why.unlearned.empty() ? std::nullopt : std::optional(std::move(why));
}

const Cell* cell_within(const ArmEvidence& arm, const std::string& metric) {
  const auto found = std::ranges::find_if(arm.cells, [&](const Cell& cell) {
    return cell.metric == metric && !cell.extrapolates && !cell.over && !cell.test_set.empty();
  });
  return found == arm.cells.end() ? nullptr : &*found;
}

std::set<std::string> compared_arms(const TaskEvidence& setting, const config::Study& study) {
  std::set<std::string> arms;
  for (const auto& configuration : study.configurations) arms.insert(configuration.arm);
  for (const auto& arm : setting.arms) arms.insert(arm.name);
  arms.erase(study.compare->baseline);
  return arms;
}

void mark_primary(TaskEvidence& task, const config::Comparison& comparison) {
  const auto sets = primary_sets(task, comparison);
  for (auto& arm : task.arms)
    for (auto& cell : arm.cells)
      cell.primary =
          cell.metric == task.metric && std::ranges::find(sets, cell.test_set) != sets.end();
}

void add_claims(std::span<TaskEvidence> settings, const config::Study& study, int64_t look) {
  const auto& comparison = *study.compare;
  const auto declared = declared_family(settings, study);
  Family family{.comparisons = declared.comparisons(),
                .with_margins = declared.with_margins * declared.sets,
                .test = comparison.test,
                .correction = comparison.correction,
                .look = look};
  for (auto& task : settings) {
    mark_collapsed(task);
    if (comparison.test != config::PairedTest::sign_flip) set_intervals(task, comparison.test);
    for (auto& arm : task.arms) add_contrasts(task, arm, comparison, family);
  }
  if (study.crossed) leave_untested(settings, family);
  const auto correction = test_family(family);
  add_detectable(family);
  for (auto& task : settings) {
    task.margin = config::claim_of(comparison, task.name, "").margin;
    task.comparisons = family.comparisons;
    task.with_margins = family.with_margins;
    task.correction = correction;
    if (family.comparisons > 0 && !study.crossed)
      task.family = family_text(task, declared.arms, declared.settings, family);
    for (auto& arm : task.arms)
      judge_arm(task, arm, study,
                {.comparisons = family.comparisons,
                 .correction = correction,
                 .seeds_for_difference = seeds_for_difference(family),
                 .seeds_for_margin = seeds_for_margin(family),
                 .crossed = study.crossed});
  }
}

bool is_decided(const Evidence& evidence) {
  return std::ranges::none_of(compared_in(evidence.tasks), [](const Compared& one) {
    const auto verdict = one.contrast().verdict;
    return one.cell.primary && !one.arm.control && !is_claim(verdict) &&
           verdict != Verdict::not_tested;
  });
}

}  // namespace ablate::analysis
