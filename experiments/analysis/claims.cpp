#include "experiments/analysis/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/contrast.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/sentence_test.h"
#include "experiments/analysis/statistics/significance.h"

namespace ablate::analysis {
namespace {

/// An arm has learned a task if this share of its outputs within the trained length is right.
constexpr double kLearned = 0.5;

const std::string kGate = "exact_match";

/// The seeds that only one of the two has finished.
std::string seeds_apart(const Sample& arm, const Sample& baseline,
                        const std::vector<int64_t>& seeds) {
  std::string apart;
  for (size_t i = 0; i < seeds.size(); ++i)
    if (std::isnan(arm.values[i]) != std::isnan(baseline.values[i]))
      apart += fmt::format("{}seed {} of {}", apart.empty() ? "" : ", ", seeds[i],
                           std::isnan(arm.values[i]) ? "the arm" : "the baseline");
  return apart.empty() ? "" : apart + " is missing";
}

/// Why no claim is made beyond the trained length; empty if one of the arms learned the task.
std::string not_learned(const ArmEvidence& arm, const ArmEvidence& baseline) {
  const auto* mine = cell_within(arm, kGate);
  const auto* others = cell_within(baseline, kGate);
  if (mine == nullptr || others == nullptr)
    return "no test set within the trained length shows that the task is learned";
  const auto learned = [](const Sample& sample) {
    return !std::isnan(sample.mean) && !config::is_above(kLearned, sample.mean);
  };
  if (learned(mine->sample) || learned(others->sample)) return "";
  return fmt::format(
      "neither arm learned the task within the trained length (exact match {} and "
      "{} on {})",
      format_metric(mine->sample.mean, kGate), format_metric(others->sample.mean, kGate),
      mine->test_set);
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
  const auto named = comparison.test_sets.find(task.name);
  if (named != comparison.test_sets.end()) return named->second;
  const auto within = names_of_test_sets(task, [](const Cell& cell) { return !cell.extrapolates; });
  return within.empty() ? names_of_test_sets(task, [](const Cell&) { return true; }) : within;
}

/// Arms of the study's file that the task's baselines are compared with.
int64_t declared_arms(const std::string& task, const config::Study& study) {
  const auto arms = std::ranges::count(study.configurations, task, &config::Configuration::task);
  return (arms - 1) * (study.tuning ? 2 : 1);
}

/// "Holm's correction covers all 4 primary comparisons of copy: 2 arms on length 12 and length 13."
std::string family_text(const TaskEvidence& task, int64_t arms,
                        const std::vector<std::string>& sets) {
  std::string names;
  for (size_t i = 0; i < sets.size() && !is_of_run(task.metric); ++i)
    names += (i == 0 ? " on " : i + 1 < sets.size() ? ", " : " and ") + sets[i];
  const bool one = task.comparisons == 1;
  auto text = fmt::format("{} {} of {}: {} arm{}{}.",
                          one ? "The p values are of the one"
                              : fmt::format("Holm's correction covers all {}", task.comparisons),
                          one ? "primary comparison" : "primary comparisons", task.name, arms,
                          arms == 1 ? "" : "s", names);
  const auto measured = names_of_test_sets(task, [](const Cell&) { return true; });
  if (measured.size() > sets.size())
    text += " The other test sets are exploratory: their differences are shown, not tested.";
  return text;
}

void set_family(TaskEvidence& task, const config::Study& study) {
  const auto sets = names_of_test_sets(task, [](const Cell& cell) { return cell.primary; });
  const auto compared = std::ranges::count(task.arms, false, &ArmEvidence::baseline);
  const auto arms = std::max<int64_t>(declared_arms(task.name, study), compared);
  task.comparisons = arms * std::ssize(sets);
  if (task.comparisons > 0) task.family = family_text(task, arms, sets);
}

/// Holm's correction over the family; `tested` may be a part of it. A comparison has two
/// hypotheses, of no difference and of a difference that matters, of which at most one is true.
void correct(const std::vector<Contrast*>& tested, size_t comparisons, bool with_margin) {
  std::vector<double> p;
  std::vector<double*> corrected;
  const auto add = [&](Test& test) {
    if (std::isnan(test.p)) return;
    p.push_back(test.p);
    corrected.push_back(&test.holm_p);
  };
  for (auto* contrast : tested) {
    add(contrast->difference);
    add(contrast->equivalence);
  }
  p.resize(comparisons * (with_margin ? 2 : 1),
           1);  // untested: not significant
  const auto adjusted = statistics::holm(p, comparisons);
  for (size_t i = 0; i < corrected.size(); ++i) *corrected[i] = adjusted[i];
}

}  // namespace

const Cell* cell_within(const ArmEvidence& arm, const std::string& metric) {
  const auto found = std::ranges::find_if(arm.cells, [&](const Cell& cell) {
    return cell.metric == metric && !cell.extrapolates && !cell.test_set.empty();
  });
  return found == arm.cells.end() ? nullptr : &*found;
}

void mark_primary(TaskEvidence& task, const config::Comparison& comparison) {
  const auto sets = primary_sets(task, comparison);
  for (auto& arm : task.arms)
    for (auto& cell : arm.cells)
      cell.primary =
          cell.metric == task.metric && std::ranges::find(sets, cell.test_set) != sets.end();
}

void add_claims(TaskEvidence& task, const config::Study& study) {
  task.margin = config::margin_of(*study.compare, task.name);
  set_family(task, study);
  std::vector<Contrast*> tested;
  for (auto& arm : task.arms) {
    const auto* baseline = baseline_of(task, arm);
    if (baseline == nullptr) continue;
    for (size_t i = 0; i < arm.cells.size(); ++i) {
      auto& cell = arm.cells[i];
      const auto& reference = baseline->cells[i].sample;
      if (cell.sample.count == 0 || reference.count == 0) continue;
      const bool censored = is_censored(cell.sample) || is_censored(reference);
      if (censored && !cell.primary) continue;
      cell.contrast = contrast_of(cell, reference);
      if (censored || !cell.primary) continue;
      test_contrast(*cell.contrast, task.margin);
      tested.push_back(&*cell.contrast);
    }
  }
  correct(tested, static_cast<size_t>(task.comparisons), task.margin.has_value());
  for (auto& arm : task.arms) {
    const auto* baseline = baseline_of(task, arm);
    for (size_t i = 0; i < arm.cells.size(); ++i)
      if (auto& cell = arm.cells[i]; cell.contrast)
        judge(*cell.contrast, cell,
              {.baseline = baseline->name,
               .margin = task.margin,
               .comparisons = task.comparisons,
               .missing = config::allows(*study.compare, config::Uneven::seeds)
                              ? ""
                              : seeds_apart(cell.sample, baseline->cells[i].sample, study.seeds),
               .censored = is_censored(cell.sample) || is_censored(baseline->cells[i].sample),
               .not_learned = cell.extrapolates ? not_learned(arm, *baseline) : ""});
  }
}

namespace {

/// The outputs of one arm on one test set, a value for each seed.
using Outputs = std::vector<std::optional<ScoredSentences>>;

Outputs read_outputs(const config::Study& study, const records::StudyFolder& folder,
                     const config::RunSpecification& any, const std::string& test_set) {
  Outputs outputs;
  for (const int64_t seed : study.seeds) {
    auto run = any;
    run.seed = seed;
    outputs.push_back(read_sentences(folder.run(run), test_set));
  }
  return outputs;
}

void add_tests(Cell& cell, const Outputs& arm, const Outputs& baseline,
               const std::vector<int64_t>& seeds) {
  const bool bleu = cell.metric == "bleu";
  if (cell.sample.count == 0 || (!bleu && cell.metric != "chrf")) return;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (!arm[i] || !baseline[i]) continue;
    if (arm[i]->bleu.sentences() != baseline[i]->bleu.sentences()) continue;
    auto test = bleu ? bleu_test(*arm[i], *baseline[i]) : chrf_test(*arm[i], *baseline[i]);
    test.seed = seeds[i];
    cell.sentence_tests.push_back(test);
  }
}

}  // namespace

void add_sentence_tests(TaskEvidence& task, const config::Study& study,
                        const records::StudyFolder& folder) {
  const auto run_of = [&](const std::string& arm) -> const config::RunSpecification& {
    return *std::ranges::find_if(
        study.runs, [&](const auto& run) { return run.task == task.name && run.arm == arm; });
  };
  for (auto& arm : task.arms) {
    const auto* baseline = baseline_of(task, arm);
    if (baseline == nullptr) continue;
    const auto& reference = run_of(baseline->name);
    if (!std::holds_alternative<data::Text>(reference.experiment.data)) continue;
    for (const auto& cell : baseline->cells) {
      if (cell.metric != "bleu") continue;
      const auto of_baseline = read_outputs(study, folder, reference, cell.test_set);
      const auto mine = read_outputs(study, folder, run_of(arm.name), cell.test_set);
      for (auto& other : arm.cells)
        if (other.test_set == cell.test_set) add_tests(other, mine, of_baseline, study.seeds);
    }
  }
}

}  // namespace ablate::analysis
