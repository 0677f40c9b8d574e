#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/schema.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// What the validation set has to show; absent: not asked for.
struct StepsToOptions {
  std::optional<double> validation_perplexity;
  std::optional<double> validation_token_accuracy;

  static void fields(auto& o, auto&& visit) {
    visit("validation_perplexity", o.validation_perplexity, "at most this");
    visit("validation_token_accuracy", o.validation_token_accuracy, "at least this, 0 to 1");
  }
};

/// Which arm the others are compared with; both keys absent: no comparison.
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
    visit("metric", o.metric, "what they are compared by");
    visit("metrics", o.metrics, "task: its metric, where that is another one");
    visit("test_sets", o.test_sets,
          "task: a list of its primary test sets, such as [length 12, length 13], the only ones "
          "that are tested; absent: those within the trained length");
    visit("margin", o.margin,
          "the smallest difference of `metric` that matters, such as 0.01; then an arm that is "
          "shown to differ by less is called equivalent; absent: no such test");
    visit("steps_to", o.steps_to,
          "values that a run has to reach on the validation set; the report says after how many "
          "steps it does, and of a run that never does how many it made");
    visit("allow", o.allow,
          "what compared arms may have unequal: seeds (claims from those that both finished), "
          "steps, data");
    visit("fit", o.fit,
          "power: fit the metric as a power of the number of parameters over all arms, three sizes "
          "or more; none: do not");
  }
};

/// By what of the validation values are chosen; test sets play no part.
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
    visit(
        "values", o.values,
        "what to try: every arm at its best value is a further arm, <arm>-tuned, beside the arm as "
        "it stands");
    visit("seeds", o.seeds, "seeds that values are compared on; absent: the study's first");
    visit("metric", o.metric, "perplexity or token_accuracy, of the validation set");
  }
};

/// The keys of a study file; sections that hold overlays are kept as they stand.
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
    visit("question", o.question, "what the study asks");
    visit("time", o.time, "how long it takes on two cores, shown by ablate run --list");
    visit("seeds", o.seeds, "one run of every task and arm for each seed");
    visit("base", o.base, "what all runs share");
    visit("tasks", o.tasks, "name: what the task changes; absent: the one task of base");
    visit("arms", o.arms, "name: what the arm changes; absent: one arm, base");
    visit("grid", o.grid, "key.path: list of values; multiplies the arms");
    visit("tune", o.tune, "a key whose best value is looked for, for every arm by itself");
    visit("compare", o.compare, "which arm is the baseline, by which metric");
    visit("expect", o.expect,
          "claims that the results are held against, as 'task: arm.metric < 0.5 * arm.metric'");
  }
};

/// The schema of a study file; `base` is the schema of an Experiment.
const Schema& study_schema();

}  // namespace ablate::config
