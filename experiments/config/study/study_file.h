#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/schema/schema.h"
#include "experiments/config/study/arm.h"
#include "experiments/config/yaml/value.h"
#include "options/enumeration.h"

namespace ablate::config {

/// A comparison as it is read, with the values that name tasks or arms and are checked with them.
struct CompareOptions : Comparison {
  Value metrics_of_tasks, sets_of_tasks, claims_of_arms, target;
  std::optional<bool> asks_for_control;

  static void fields(auto& o, auto&& visit) {
    visit("baseline", o.baseline, "the arm that the others are compared with");
    visit("metric", o.metric, "the metric of the comparison");
    visit("metrics", o.metrics_of_tasks, "task: its metric, if it is not `metric`");
    visit("test_sets", o.sets_of_tasks,
          "task: its primary test sets, such as [length 12, length 13]; differences on other test "
          "sets are not tested for significance; absent: all within the trained length");
    visit("over", o.over,
          "one number for each seed, so that no single test set is chosen. lengths: the mean over "
          "the test sets that have a length, within and beyond the trained one, or over those that "
          "test_sets names; log_lengths: the area over the logarithm of their length, divided by "
          "its range; tasks: the mean over all tasks of the mean over each one's primary test "
          "sets; none: every primary test set is compared by itself");
    ArmClaim::fields(o.claim, visit);
    visit("arms", o.claims_of_arms,
          "arm: { claim: ..., margin: ... }, for arms whose claim or margin is another one");
    visit(
        "test", o.test,
        "sign_flip: exact tests that need six seeds and no distribution; t: paired t tests, "
        "which two seeds allow and which assume normal differences; e_value: exact tests that may "
        "be looked at after every seed (ablate run --until decided)");
    visit("correction", o.correction,
          "how sign flips are corrected for all arms. max_t: their sums are compared, divided by "
          "the size of their differences; min_p: their own p, so that one odd seed does not hide "
          "an arm that differs in every seed, but a single arm that differs needs more seeds the "
          "more arms there are");
    visit("cost_to", o.target,
          "what runs have to reach on the validation set: baseline (its last validation loss, seed "
          "by seed), {validation_perplexity: 5} or {validation_token_accuracy: 0.9}; the report "
          "gives the steps, tokens, FLOPs and seconds that each arm needs, in relation to the "
          "baseline's; absent: they are not counted");
    visit("allow", o.allow,
          "ways in which compared arms may differ: seeds (claims use the seeds that both "
          "finished), steps, data or hardware");
    visit(
        "fit", o.fit,
        "power: fit metric = a * parameters ^ b over the arms or, in a study with sizes, of every "
        "arm over them; three sizes or more are needed; none: no fit");
    visit(
        "control", o.asks_for_control,
        "train the baseline once more, as the arm `control`, with other random numbers and, with "
        "tune, a search of its own: how far it is from the baseline is the study's noise; absent: "
        "yes, if three arms or more are trained, the baseline among them and none of them from its "
        "weights, no arm is named control, and seeds are not crossed");
  }
};

/// The validation metric that chooses the tuned values; test sets are not used.
ABLATE_ENUM(ValidationMetric, perplexity, token_accuracy);

/// Whether each seed of the study has a search of its own, all share one, or the arms are compared
/// at the best of their curves over the values.
ABLATE_ENUM(TunedBy, seed, shared, curve);

/// Keys whose best values are searched for each arm.
struct TuneOptions {
  Value keys;
  TunedBy by = TunedBy::seed;
  std::vector<int64_t> seeds;
  ValidationMetric metric = ValidationMetric::perplexity;
  int64_t extend = 2;
  bool on_test_text = false;

  static void fields(auto& o, auto&& visit) {
    visit("keys", o.keys,
          "key.path: list of values to try; every arm is trained with every combination on the "
          "tuning seeds, and with its best one on the study's seeds");
    visit("by", o.by,
          "seed: every seed of the study has values of its own, from a search on a tuning seed of "
          "its own, so that intervals and p contain the luck of the search; shared: one search on "
          "all tuning seeds, whose luck all seeds share; curve: every seed of the study runs every "
          "value of one key, and arms are compared where their curves over its logarithm are best");
    visit("seeds", o.seeds,
          "seeds of the trial runs, none of them a seed of the study; by seed one for each of the "
          "study's seeds (absent: 100 more than it), shared any number of them (absent: the two "
          "smallest numbers above 100 that are not)");
    visit("metric", o.metric,
          "validation metric that chooses the values: perplexity or token_accuracy");
    visit("extend", o.extend,
          "how many times the values of a key are continued for an arm if its best one is the "
          "smallest or the largest; 0: never");
    visit("on_test_text", o.on_test_text,
          "choose although the validation text is the test text, as it is where all that is tested "
          "is trained (facts); the report says so");
  }
};

/// What the size of an arm is matched with.
ABLATE_ENUM(MatchedWith, none, baseline);

/// Arms that get as many parameters as another one.
struct MatchOptions {
  MatchedWith parameters = MatchedWith::none;
  std::string by;
  std::vector<std::string> arms;

  static void fields(auto& o, auto&& visit) {
    visit("parameters", o.parameters,
          "baseline: as many parameters as the baseline has, within 1 %, in every task and size");
    visit("by", o.by,
          "the whole number of the model that is solved for, such as model.feed_forward.d_hidden; "
          "it is laid over the arm last");
    visit("arms", o.arms,
          "the arms that get it; absent: all that differ from the baseline in size");
  }
};

/// The keys of a study file; overlays are kept as YAML values.
struct StudyFile {
  std::string extends;
  std::string name;
  std::string question;
  std::string time;
  std::vector<int64_t> seeds;
  Value base;
  Value tasks;
  Value sizes;
  Value arms;
  Value grid;
  MatchOptions match;
  TuneOptions tune;
  CompareOptions compare;
  std::vector<std::string> expect;

  static void fields(auto& o, auto&& visit) {
    visit("extends", o.extends,
          "a study's file, relative to this one, whose keys this one's are laid over: those of "
          "base, compare, match and tune one by one, others as a whole");
    visit("name", o.name, "names the output folder");
    visit("question", o.question, "question of the study, printed in its report");
    visit("time", o.time, "duration on two cores, shown by ablate run --list");
    visit("seeds", o.seeds,
          "one run of every task and arm for each seed, such as [1, 2, 3, 4, 5, 6]; or, to learn "
          "which seeds matter and without tests, a run for each pair of two lists: "
          "{initialization: [1, 2, 3, 4], order: [1, 2, 3, 4]}, of which the second one decides "
          "dropout and all else that is random, too");
    visit("base", o.base, "options of all runs");
    visit("tasks", o.tasks, "task name: the options that it changes; absent: the task of base");
    visit("sizes", o.sizes,
          "size name: the options that it changes; every task is run in every size, and arms are "
          "compared within it");
    visit("arms", o.arms, "arm name: the options that it changes; absent: one arm, base");
    visit("grid", o.grid,
          "key.path: list of values; arms are run with every combination of values and compared at "
          "the same one; without arms, the combinations are the arms");
    visit("match", o.match, "a key whose value is solved for, so that arms are equally large");
    visit("tune", o.tune, "keys whose best values are searched for each arm");
    visit("compare", o.compare, "baseline and metric of the comparison");
    visit("expect", o.expect,
          "claims that the results are checked against, such as 'task: arm.metric < 0.5 * "
          "arm.metric'");
  }
};

/// The schema of a study file; `base` is the schema of an Experiment.
const Schema& study_schema();

}  // namespace ablate::config
