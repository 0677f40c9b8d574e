#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/schema.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Values to reach on the validation set; absent: steps are not counted.
struct StepsToOptions {
  std::optional<double> validation_perplexity;
  std::optional<double> validation_token_accuracy;

  static void fields(auto& o, auto&& visit) {
    visit("validation_perplexity", o.validation_perplexity,
          "largest perplexity that counts as reached");
    visit("validation_token_accuracy", o.validation_token_accuracy,
          "smallest token accuracy that counts as reached, 0 to 1");
  }
};

/// The comparison of the arms with a baseline.
struct CompareOptions {
  std::string baseline;
  std::string metric;
  Value metrics;
  Value test_sets;
  std::optional<double> margin;
  StepsToOptions steps_to;
  std::vector<Uneven> allow;
  Fit fit = Fit::none;

  static void fields(auto& o, auto&& visit) {
    visit("baseline", o.baseline, "the arm that the others are compared with");
    visit("metric", o.metric, "the metric of the comparison");
    visit("metrics", o.metrics, "task: its metric, if it is not `metric`");
    visit("test_sets", o.test_sets,
          "task: its primary test sets, such as [length 12, length 13]; differences on other test "
          "sets are not tested for significance; absent: all within the trained length");
    visit("margin", o.margin,
          "the smallest difference of `metric` that matters, such as 0.01; an arm that is shown to "
          "differ by less is equivalent; absent: no test of equivalence");
    visit("steps_to", o.steps_to,
          "values to reach on the validation set; the report gives the steps until a run reaches "
          "them, or the steps of the run as a lower bound");
    visit("allow", o.allow,
          "ways in which compared arms may differ: seeds (claims use the seeds that both "
          "finished), steps, data or hardware");
    visit("fit", o.fit,
          "power: fit metric = a * parameters ^ b over the arms, which need three sizes or more; "
          "none: no fit");
  }
};

/// The validation metric that chooses the tuned value; test sets are not used.
enum class ValidationMetric { perplexity, token_accuracy };

constexpr auto names(ValidationMetric) {
  return std::to_array<std::pair<ValidationMetric, std::string_view>>(
      {{ValidationMetric::perplexity, "perplexity"},
       {ValidationMetric::token_accuracy, "token_accuracy"}});
}

/// Values of one key that are tried for every arm.
struct TuneOptions {
  std::string key;
  std::vector<Value> values;
  std::vector<int64_t> seeds;
  ValidationMetric metric = ValidationMetric::perplexity;

  static void fields(auto& o, auto&& visit) {
    visit("key", o.key, "dotted path below base, such as training.schedule.peak");
    visit("values", o.values,
          "values to try; each arm with its best value becomes a further arm, <arm>-tuned");
    visit("seeds", o.seeds, "seeds of the trial runs; absent: the study's first seed");
    visit("metric", o.metric,
          "validation metric that chooses the value: perplexity or token_accuracy");
  }
};

/// The keys of a study file; overlays are kept as YAML values.
struct StudyFile {
  std::string name;
  std::string question;
  std::string time;
  std::vector<int64_t> seeds;
  Value base;
  Value tasks;
  Value arms;
  Value grid;
  TuneOptions tune;
  CompareOptions compare;
  std::vector<std::string> expect;

  static void fields(auto& o, auto&& visit) {
    visit("name", o.name, "names the output folder");
    visit("question", o.question, "question of the study, printed in its report");
    visit("time", o.time, "duration on two cores, shown by ablate run --list");
    visit("seeds", o.seeds, "one run of every task and arm for each seed");
    visit("base", o.base, "options of all runs");
    visit("tasks", o.tasks, "task name: the options that it changes; absent: the task of base");
    visit("arms", o.arms, "arm name: the options that it changes; absent: one arm, base");
    visit("grid", o.grid,
          "key.path: list of values; every arm is run with every combination of values");
    visit("tune", o.tune, "a key whose best value is searched for each arm separately");
    visit("compare", o.compare, "baseline and metric of the comparison");
    visit("expect", o.expect,
          "claims that the results are checked against, such as 'task: arm.metric < 0.5 * "
          "arm.metric'");
  }
};

/// The schema of a study file; `base` is the schema of an Experiment.
const Schema& study_schema();

}  // namespace ablate::config
