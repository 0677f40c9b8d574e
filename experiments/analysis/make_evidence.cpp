#include "experiments/analysis/make_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <set>
#include <span>

#include "experiments/analysis/aggregate.h"
#include "experiments/analysis/answer.h"
#include "experiments/analysis/claims.h"
#include "experiments/analysis/contrast.h"
#include "experiments/analysis/cost.h"
#include "experiments/analysis/curve.h"
#include "experiments/analysis/expectation.h"
#include "experiments/analysis/fairness.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/ladder.h"
#include "experiments/analysis/notes.h"
#include "experiments/analysis/pooled.h"
#include "experiments/analysis/regime.h"
#include "experiments/analysis/seed_components.h"
#include "experiments/analysis/sentence_test.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/config/schema/printer.h"
#include "experiments/records/registration.h"

namespace ablate::analysis {
namespace {

/// The results of one task and arm in the order of the seeds; null if a run has not finished.
using Runs = std::vector<const records::RunResult*>;

using Value = std::function<double(const records::RunResult&)>;

Sample sample_over(const Runs& runs, const Value& value,
                   const statistics::Interval& range = statistics::kUnbounded) {
  std::vector<double> values;
  for (const auto* run : runs)
    values.push_back(run == nullptr ? std::numeric_limits<double>::quiet_NaN() : value(*run));
  return sample_of(std::move(values), range);
}

/// A cost of training; NaN if the run was not trained.
template <class Number>
Value of_training(Number records::RunResult::*member) {
  return [member](const records::RunResult& run) {
    return run.steps > 0 ? static_cast<double>(run.*member) : records::kNotMeasured;
  };
}

double tokens_per_second(const records::RunResult& run) {
  return run.training_seconds > 0 ? static_cast<double>(run.tokens) / run.training_seconds
                                  : records::kNotMeasured;
}

/// The test sets of all arms, each once, in their order. With compare.allow: [data] one that is
/// beyond the trained length of any arm is beyond it for all.
std::vector<records::TestScores> all_test_sets(const std::vector<Runs>& arms) {
  std::vector<records::TestScores> sets;
  for (const auto& arm : arms)
    for (const auto* run : arm)
      for (const auto& test : run == nullptr ? std::vector<records::TestScores>{} : run->tests) {
        const auto known = std::ranges::find(sets, test.name, &records::TestScores::name);
        if (known == sets.end())
          sets.push_back(test);
        else
          known->extrapolates = known->extrapolates || test.extrapolates;
      }
  return sets;
}

Cell cell_of(const config::Metric& metric, const Runs& runs, const Value& value) {
  const statistics::Interval range{metric.low, metric.high};
  return {.metric = metric.name,
          .direction = metric.direction,
          .range = range,
          .sample = sample_over(runs, value, range)};
}

/// The metrics of whole runs, without those that only some runs have and here none does.
std::vector<config::Metric> run_metrics_of(const std::vector<Runs>& arms) {
  auto metrics = config::run_metrics();
  std::erase_if(metrics, [&](const config::Metric& metric) {
    return (metric.observed || metric.of_mixtures) &&
           std::ranges::none_of(arms, [&](const Runs& runs) {
             return std::ranges::any_of(runs, [&](const auto* run) {
               return run != nullptr && !std::isnan(records::value_of(*run, metric));
             });
           });
  });
  return metrics;
}

/// The test sets and metrics of a task.
struct Measures {
  std::vector<records::TestScores> sets;    // the test sets, with any scores
  std::vector<config::Metric> run_metrics;  // of whole runs
};

std::vector<Cell> cells_of(const Runs& runs, const Measures& measures) {
  std::vector<Cell> cells;
  for (const auto& set : measures.sets)
    for (const auto& metric : config::metrics_on(set.compared)) {
      auto cell = cell_of(metric, runs, [&](const records::RunResult& run) {
        return records::value_on(run, set.name, metric);
      });
      cell.test_set = set.name;
      cell.length = set.length;
      cell.unit = set.unit;
      cell.extrapolates = set.extrapolates;
      if (metric.counts_right) cell.success = success_of(cell.sample);
      cells.push_back(std::move(cell));
    }
  for (const auto& metric : measures.run_metrics)
    cells.push_back(cell_of(metric, runs, [&](const records::RunResult& run) {
      return records::value_of(run, metric);
    }));
  return cells;
}

/// The study's baseline; without a comparison the first arm, to list changes from.
const std::string& baseline_name(const config::Study& study) {
  return study.compare ? study.compare->baseline : study.arms.front();
}

/// Keys that differ from the baseline's.
std::vector<ChangedKey> changes_of(const config::Experiment& baseline,
                                   const config::Experiment& arm) {
  std::vector<ChangedKey> changes;
  for (auto& difference : config::differences(baseline, arm))
    changes.push_back(
        {std::move(difference.path), std::move(difference.left), std::move(difference.right)});
  return changes;
}

void mark_in_tables(TaskEvidence& task, const config::Study& study) {
  const auto expects = [&](const std::string& metric) {
    return std::ranges::any_of(study.expect, [&](const config::Clause& clause) {
      return clause.task == task.name &&
             (clause.left.metric == metric || clause.right.metric == metric);
    });
  };
  const auto above_zero = [&](const std::string& metric) {
    return std::ranges::any_of(task.arms, [&](const ArmEvidence& arm) {
      return std::ranges::any_of(arm.cells, [&](const Cell& cell) {
        return cell.metric == metric && cell.sample.mean > 0;
      });
    });
  };
  for (auto& arm : task.arms)
    for (auto& cell : arm.cells) {
      const auto* metric = config::find_metric(cell.metric);  // null: counts steps
      cell.in_tables = metric != nullptr &&
                       (metric->in_tables || cell.metric == task.metric || expects(cell.metric) ||
                        (metric->in_tables_above_zero && above_zero(cell.metric)));
    }
}

/// Of which seeds a sample has a value.
std::vector<bool> seeds_of(const Sample& sample) {
  std::vector<bool> all;
  for (const double value : sample.values) all.push_back(!std::isnan(value));
  return all;
}

/// Metrics per token have no best arm if the arms have different tokens, and means of different
/// seeds have none. A control is never the best.
void mark_best(TaskEvidence& task) {
  for (size_t cell = 0; cell < task.arms.front().cells.size(); ++cell) {
    std::vector<double> means;
    std::set<std::vector<bool>> seeds;
    bool bounds = false;
    for (const auto& arm : task.arms) {
      const auto& sample = arm.cells[cell].sample;
      if (!arm.control && sample.count > 0) seeds.insert(seeds_of(sample));
      means.push_back(arm.control ? kUntested : sample.mean);
      bounds = bounds || has_bounds(sample);
    }
    if (!task.same_tokens && config::find_metric(task.arms.front().cells[cell].metric)->per_token)
      continue;
    if (bounds || seeds.size() > 1) continue;  // a value beyond its bound may be the best
    for (size_t arm = 0; arm < means.size(); ++arm) {
      auto& mine = task.arms[arm].cells[cell];
      mine.best = is_best(means, arm, {mine.metric, mine.direction});
    }
  }
}

/// "the baseline's last validation loss", "a validation perplexity of at most 5"
std::string words_of(const config::Target& target) {
  if (!target.value) return "the baseline's last validation loss";
  const bool higher = config::find_metric(target.metric)->direction == Direction::higher;
  return fmt::format("a {} of at {} {}", display_name(target.metric), higher ? "least" : "most",
                     *target.value);
}

class TaskBuilder {
 public:
  TaskBuilder(const config::Study& study, const records::StudyRuns& runs,
              const config::Setting& setting)
      : study_(study), runs_(runs), setting_(setting), task_(setting.name) {
    for (const auto& arm : study.arms) {
      Runs found;
      for (const int64_t seed : study.seeds) found.push_back(result_of(runs, arm, seed));
      arms_.push_back(std::move(found));
    }
  }

  TaskEvidence build() const {
    TaskEvidence evidence{.name = task_, .setting = setting_};
    if (study_.declared_compare)
      evidence.declared_metric = config::metric_of(*study_.declared_compare, task_);
    if (study_.compare) evidence.metric = evidence.declared_metric;
    const Measures measures{all_test_sets(arms_), run_metrics_of(arms_)};
    for (size_t i = 0; i < arms_.size(); ++i) evidence.arms.push_back(arm_evidence(i, measures));
    if (study_.compare && study_.compare->cost_to) add_cost_to(evidence, *study_.compare->cost_to);
    if (study_.compare && config::is_over_lengths(study_.compare->over))
      add_over_lengths(evidence, *study_.compare);
    evidence.same_tokens = same_tokens();
    mark_in_tables(evidence, study_);
    mark_best(evidence);
    if (!study_.compare) return evidence;
    mark_primary(evidence, *study_.compare);
    if (study_.compare->fit == config::Fit::power && setting_.size.empty())
      evidence.fits = size_fits_of(evidence);
    return evidence;
  }

 private:
  /// Label targets do not depend on the tokenizer.
  bool same_tokens() const {
    std::set<std::string> models;
    for (const auto& runs : arms_)
      for (const auto* run : runs)
        if (run != nullptr && !run->target_tokenizer_sha256.empty() &&
            !records::scores_classes(*run))
          models.insert(run->target_tokenizer_sha256);
    return models.size() <= 1;
  }

  const records::RunResult* result_of(const records::StudyRuns& runs, const std::string& arm,
                                      int64_t seed) const {
    const auto found = std::ranges::find_if(runs.results, [&](const records::RunResult& run) {
      return run.task == task_ && run.arm == arm && run.seed == seed;
    });
    return found == runs.results.end() ? nullptr : &*found;
  }

  const config::Experiment& experiment_of(const std::string& arm) const {
    return config::find_run(study_, task_, arm)->experiment;
  }

  ArmEvidence arm_evidence(size_t index, const Measures& measures) const {
    const auto& runs = arms_[index];
    ArmEvidence arm{.name = study_.arms[index]};
    const auto& compared_with = baseline_name(study_);
    arm.baseline = study_.compare && arm.name == compared_with;
    arm.control = study_.compare && config::is_control(*study_.compare, arm.name);
    arm.changes = changes_of(experiment_of(compared_with), experiment_of(arm.name));
    const auto any = std::ranges::find_if(runs, [](const auto* run) { return run != nullptr; });
    if (any != runs.end()) {
      arm.parameters = (*any)->parameters;
      arm.active_parameters = (*any)->active_parameters;
      arm.trained_parameters = (*any)->trained_parameters;
      arm.table_parameters = (*any)->table_parameters;
      arm.flops_per_token = (*any)->flops_per_token;
      arm.regime = regime_of(experiment_of(arm.name), **any);
    }
    arm.steps = sample_over(runs, of_training(&records::RunResult::steps));
    arm.tokens = sample_over(runs, of_training(&records::RunResult::tokens));
    arm.training_flops = sample_over(runs, of_training(&records::RunResult::training_flops));
    arm.tokens_per_second = sample_over(runs, tokens_per_second);
    arm.training_seconds = sample_over(runs, of_training(&records::RunResult::training_seconds));
    arm.memory_bytes = sample_over(runs, of_training(&records::RunResult::memory_bytes));
    arm.cells = cells_of(runs, measures);
    return arm;
  }

  void add_cost_to(TaskEvidence& evidence, const config::Target& target) const {
    evidence.target = words_of(target);
    std::vector<std::vector<Validations>> logged(arms_.size());
    for (size_t arm = 0; arm < arms_.size(); ++arm)
      for (const auto& run : study_.runs)
        if (run.task == task_ && run.arm == study_.arms[arm])
          logged[arm].push_back(result_of(runs_, run.arm, run.seed) == nullptr
                                    ? Validations()
                                    : validations_of(runs_.folder.run(run).log(), target.metric));
    add_costs(evidence, target, logged);
  }

  const config::Study& study_;
  const records::StudyRuns& runs_;
  const config::Setting& setting_;
  const std::string& task_;
  std::vector<Runs> arms_;
};

bool has_regimes(const config::Study& study) {
  if (!study.compare) return false;
  const auto has = [](const config::ArmClaim& claim) { return is_given(claim.regime); };
  return has(study.compare->claim) ||
         std::ranges::any_of(study.compare->arms, [&](const auto& arm) { return has(arm.second); });
}

/// The settings of a declared task stand side by side.
void add_all_claims(std::vector<TaskEvidence>& tasks, const config::Study& study, int64_t look) {
  const auto all = std::span(tasks);
  for (size_t first = 0, next = 0; first < all.size(); first = next) {
    while (next < all.size() && all[next].setting.task == all[first].setting.task) ++next;
    add_claims(all.subspan(first, next - first), study, look);
  }
}

/// The means over all tasks, which are compared in the place of the single ones.
std::vector<TaskEvidence> compared_over_tasks(std::vector<TaskEvidence>& tasks,
                                              const config::Study& study) {
  if (!study.compare || study.compare->over != config::Over::tasks) return {};
  auto all = over_tasks(tasks, study);
  for (auto& task : tasks)
    for (auto& arm : task.arms)
      for (auto& cell : arm.cells) cell.primary = false;
  for (auto& task : all) {
    mark_in_tables(task, study);
    mark_best(task);
  }
  return all;
}

/// Notes on means over tasks and on components of variance that cannot be computed.
void add_notes_on_gaps(Evidence& evidence, const config::Study& study) {
  if (study.compare && study.compare->over == config::Over::tasks &&
      evidence.tasks.front().parts.empty())
    evidence.notes.emplace_back(
        "compare.over: tasks compares means over all tasks of the file, and one is not selected.");
  const auto lacks = [](const TaskEvidence& task) { return task.components.empty(); };
  if (study.crossed && std::ranges::any_of(evidence.tasks, lacks))
    evidence.notes.emplace_back(
        "Components of variance take a run of every pair of the crossed seeds, and some are "
        "missing, or their values are not finite.");
}

}  // namespace

Evidence make_evidence(const config::Study& declared, const records::StudyRuns& all) {
  check_fair(declared, all.results);
  std::optional<AtVertices> vertices;
  if (declared.by_curve()) vertices = at_vertices(declared, all);
  const auto& study = vertices ? vertices->study : declared;
  const auto& runs = vertices ? vertices->runs : all;
  Evidence evidence{.study = study.name, .question = study.question, .seeds = study.seeds};
  if (study.declared_compare) evidence.declared_baseline = study.declared_compare->baseline;
  if (study.compare) {
    evidence.baseline = study.compare->baseline;
    evidence.metric = study.compare->metric;
  }
  for (const auto& setting : study.settings) {
    evidence.tasks.push_back(TaskBuilder(study, runs, setting).build());
    if (!vertices) add_sentence_tests(evidence.tasks.back(), study, runs.folder);
  }
  auto over_all = compared_over_tasks(evidence.tasks, study);
  const auto standing = records::standing_of(all);
  if (study.compare) add_all_claims(evidence.tasks, study, standing.look);
  if (study.compare) add_all_claims(over_all, study, standing.look);
  if (study.crossed) {
    for (auto* tasks : {&evidence.tasks, &over_all})
      for (auto& task : *tasks) add_components(task, study.seeds);
  } else {
    evidence.aggregates = aggregates_of(evidence);
  }
  std::ranges::move(over_all, std::inserter(evidence.tasks, evidence.tasks.begin()));
  if (study.compare) evidence.ladders = ladders_of(evidence.tasks, study, standing.look);
  if (study.tuning)
    add_tuning(evidence, *study.tuning,
               vertices ? std::move(vertices->arms) : arms_of(study.tuning->searches));
  for (const auto& clause : study.expect)
    evidence.expectations.push_back(check_clause(clause, evidence));
  evidence.missing = runs.missing;
  evidence.notes = notes_of(evidence, study, runs.results);
  add_notes_on_gaps(evidence, study);
  evidence.answer = answer_of(evidence);
  evidence.provenance = records::provenance_of(all.folder);
  evidence.confirmatory = standing.exploratory.empty();
  evidence.standing = standing.sentence();
  if (!evidence.confirmatory && has_regimes(study))
    evidence.notes.emplace_back(
        "Regime after result: that the sources' regimes were entered before the first run is not "
        "registered.");
  return evidence;
}

}  // namespace ablate::analysis
