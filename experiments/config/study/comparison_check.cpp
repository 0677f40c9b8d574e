#include "experiments/config/study/comparison_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/study/claim_check.h"
#include "experiments/config/study/cost_target.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study.h"
#include "experiments/config/study/test_set_names.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

std::map<std::string, std::string> metrics_of_tasks(const CompareOptions& options,
                                                    const std::vector<std::string>& tasks,
                                                    ProblemList& problems) {
  std::map<std::string, std::string> found;
  const auto& section = options.metrics_of_tasks;
  if (section.type != Value::Type::mapping)
    problems.add(section.mark, "compare.metrics must be a mapping of tasks to metrics");
  for (const auto& entry : section.entries) {
    require_known(entry.key, tasks, {"task", "compare.metrics", entry.mark}, problems);
    require_known(entry.value.scalar, names_of_comparable_metrics(),
                  {"metric", "compare.metrics", entry.value.mark}, problems);
    found[entry.key] = entry.value.scalar;
  }
  const auto has_another = [&](const std::string& task) {
    return found.contains(task) && found.at(task) != options.metric;
  };
  if (!tasks.empty() && std::ranges::all_of(tasks, has_another))
    problems.add(section.mark,
                 fmt::format("no task is compared by compare.metric, {}, and so by its margins and "
                             "forecasts; name there the metric of a task",
                             options.metric));
  return found;
}

std::map<std::string, std::vector<std::string>> test_sets_of_tasks(
    const Value& section, const std::vector<std::string>& tasks, ProblemList& problems) {
  std::map<std::string, std::vector<std::string>> found;
  if (section.type != Value::Type::mapping)
    problems.add(section.mark,
                 "compare.test_sets must be a mapping of tasks to lists of their test sets");
  for (const auto& entry : section.entries) {
    require_known(entry.key, tasks, {"task", "compare.test_sets", entry.mark}, problems);
    if (entry.value.type != Value::Type::list || entry.value.items.empty())
      problems.add(entry.value.mark, fmt::format("compare.test_sets.{} must list test sets, such "
                                                 "as [length 12]",
                                                 entry.key));
    auto& sets = found[entry.key];
    for (const auto& item : entry.value.items) {
      if (contains(sets, item.scalar))
        problems.add(item.mark, fmt::format("compare.test_sets.{} lists {} twice", entry.key,
                                            in_quotes(item.scalar)));
      sets.push_back(item.scalar);
    }
  }
  return found;
}

/// Reports a metric that needs a target, in a study without one.
void require_no_target(const std::string& metric, const Mark& mark, ProblemList& problems) {
  const auto* known = find_metric(metric);
  if (known != nullptr && known->field.empty())
    problems.add(
        mark, fmt::format("{} needs compare.cost_to, which says what to reach", in_quotes(metric)));
}

/// Reports primary test sets of a task whose metric is of training or validation.
void check_has_test_sets(const Comparison& comparison, const Mark& mark, ProblemList& problems) {
  for (const auto& entry : comparison.test_sets) {
    const auto* metric = find_metric(metric_of(comparison, entry.first));
    if (metric != nullptr && metric->on.empty())
      problems.add(mark, fmt::format("{} is compared by {}, which is not measured on test sets; "
                                     "leave it out of compare.test_sets",
                                     in_quotes(entry.first), metric->name));
  }
}

/// The first wanted key in which configurations differ; empty if they agree.
std::string differing_key(const Experiment& left, const Experiment& right, const auto& wanted) {
  for (const auto& difference : differences(left, right))
    if (wanted(difference.path)) return difference.path;
  return {};
}

bool learns_tokens(const Experiment& experiment) {
  return !experiment.tokenizer.file && experiment.tokenizer.kind != tokenizer::Kind::byte &&
         !experiment.training.init_from.given() &&
         !std::holds_alternative<data::Tokens>(experiment.data);
}

/// Whether the key says from which text a tokenizer is learned.
bool is_of_text(const std::string& key) {
  constexpr auto kOfTraining = std::to_array<std::string_view>(
      {"data.task", "data.train", "data.train_pairs", "data.train_length", "data.train_digits",
       "data.symbols", "data.examples.train"});
  return std::ranges::find(kOfTraining, key) != kOfTraining.end();
}

bool is_of_tokens(const std::string& key) {
  return key.starts_with("tokenizer.") && key != "tokenizer.dropout";
}

/// Two arms of a task that are compared.
struct Pair {
  std::string task;
  std::string left, right;
  std::string metric;
};

void check_pair(const Study& study, const Pair& pair, const Mark& mark, ProblemList& problems) {
  const auto* left = configuration_of(study.configurations, pair.task, pair.left);
  const auto* right = configuration_of(study.configurations, pair.task, pair.right);
  if (left == nullptr || right == nullptr) return;
  const auto compared = data::compared_of(left->experiment.data);
  if (!is_per_token(pair.metric, compared)) return;
  const auto refuse = [&](const std::string& why, const char* remedy) {
    problems.add(
        mark, fmt::format("{} is measured per token, and the arms {} and {} {} (task '{}'); "
                          "{}use nats_per_character, bits_per_character or a score of the "
                          "outputs",
                          pair.metric, in_quotes(pair.left), in_quotes(pair.right), why, pair.task,
                          remedy));
  };
  const auto &own = left->experiment, &other = right->experiment;
  if (!differing_key(own, other, is_of_tokens).empty())
    return refuse("have different tokenizers", "");
  if (!learns_tokens(own) || !learns_tokens(other)) return;
  if (const auto key = differing_key(own, other, is_of_text); !key.empty())
    refuse("learn their tokenizers from different texts, by " + key,
           "give both the tokenizer.file of `ablate tokenizer train`, or ");
}

bool observes(const training::TrainingOptions& training, const std::string& metric) {
  const auto& options = training.observe;
  return options.every > 0 &&
         std::ranges::any_of(options.quantities, [&](training::Observable what) {
           return word_of(what) == metric && (training.trains() || !training::is_of_updates(what));
         });
}

bool is_measured_on(const Metric& metric, const data::DataOptions& data) {
  if (metric.of_known_probabilities && !data::knows_probabilities(data)) return false;
  return metric.on.empty() ||
         std::ranges::find(metric.on, data::compared_of(data)) != metric.on.end();
}

/// The metrics of test sets that arms can be compared by on this data.
std::vector<std::string> names_measured_on(const data::DataOptions& data) {
  std::vector<std::string> names;
  for (const auto& metric : metrics())
    if (metric.in_tables && !metric.on.empty() && metric.direction != Direction::neither &&
        is_measured_on(metric, data))
      names.push_back(metric.name);
  return names;
}

/// Why the runs of this task and arm do not have the metric of `term`; empty if they do.
std::string why_not_measured(const Term& term, const Configuration& run) {
  const auto* metric = find_metric(term.metric);
  if (metric == nullptr) return {};
  const auto& data = run.experiment.data;
  if (metric->observed && !observes(run.experiment.training, term.metric))
    return fmt::format("the arm {} does not observe {}; see training.observe", in_quotes(run.arm),
                       term.metric);
  if (!is_measured_on(*metric, data))
    return fmt::format("{} is not measured in the task {}", term.metric, in_quotes(run.task));
  if (term.test_set.empty()) return {};
  if (metric->on.empty())
    return fmt::format("{} is not measured on test sets; leave out [{}]", term.metric,
                       term.test_set);
  const auto known = names_of_all_test_sets(data);
  if (contains(known, term.test_set)) return {};
  return fmt::format("the task {} has no test set {}{}", in_quotes(run.task),
                     in_quotes(term.test_set), did_you_mean(term.test_set, known));
}

/// Why the numbers of the setting cannot be one over its lengths; empty if they can.
std::string why_not_over_lengths(const Comparison& comparison, const Setting& setting,
                                 const data::DataOptions& data) {
  const auto known = std::ssize(names_of_test_sets(data));
  if (known == 0)
    return fmt::format("test sets that have a length, and the task {} has none",
                       in_quotes(setting.task));
  const auto named = comparison.test_sets.find(setting.name);
  const auto chosen = named == comparison.test_sets.end() ? known : std::ssize(named->second);
  if (chosen >= 2) return {};
  return fmt::format("two lengths or more, and the task {} is compared on one; list more in {}",
                     in_quotes(setting.task),
                     known < 2 ? "its data" : "compare.test_sets, or leave it out there");
}

std::string why_not_over_tasks(const Comparison& comparison, const Setting& setting, size_t tasks) {
  if (tasks < 2) return "two tasks or more";
  const auto& metric = metric_of(comparison, setting.name);
  if (metric == comparison.metric) return {};
  return fmt::format(
      "one metric of all tasks, and the task {} is compared by {}; leave it out of "
      "compare.metrics",
      in_quotes(setting.task), metric);
}

/// Why compare.over cannot give its one number in this setting; empty if it can.
std::string lacking(const Study& study, const Setting& setting, size_t tasks) {
  const auto& comparison = *study.declared_compare;
  const auto* metric = find_metric(metric_of(comparison, setting.name));
  if (metric != nullptr && metric->on.empty())
    return fmt::format("a metric of test sets, and {} is of whole runs", metric->name);
  if (comparison.over == Over::tasks) return why_not_over_tasks(comparison, setting, tasks);
  const auto* run = configuration_of(study.configurations, setting.name, comparison.baseline);
  return run == nullptr ? std::string()
                        : why_not_over_lengths(comparison, setting, run->experiment.data);
}

}  // namespace

Comparison check_comparison(const CompareOptions& options, const StudyNames& names,
                            const Tree& tree, ProblemList& problems) {
  const auto given = [&](const char* key) { return tree.has(key); };
  const auto place = [&](const char* key) { return tree.place(key); };
  const auto readable = [&](const char* key) { return tree.readable(key); };
  if (!given("compare.baseline"))
    problems.add(place("compare.baseline"), "compare needs 'baseline', one of the arms");
  else if (readable("compare.baseline"))
    require_known(options.baseline, names.arms,
                  {"arm", "compare.baseline", place("compare.baseline")}, problems);
  if (!given("compare.metric"))
    problems.add(place("compare.metric"), fmt::format("compare needs 'metric'; choose {}",
                                                      alternatives(names_of_comparable_metrics())));
  else if (readable("compare.metric"))
    require_known(options.metric, names_of_comparable_metrics(),
                  {"metric", "compare", place("compare.metric")}, problems);
  auto comparison = static_cast<const Comparison&>(options);
  if (given("compare.correction") && options.test != PairedTest::sign_flip)
    problems.add(place("compare.correction"),
                 fmt::format("compare.correction is of sign flips, and test: {} is corrected by "
                             "Holm's method; leave one of them out",
                             word_of(options.test)));
  if (given("compare.metrics"))
    comparison.metrics = metrics_of_tasks(options, tasks_of(names.settings), problems);
  check_claim({options.claim, "compare", {.root = tree.find("compare")->value}}, comparison,
              problems);
  if (given("compare.arms")) read_claims_of_arms(options, names, comparison, problems);
  if (comparison.control) comparison.arms.try_emplace(kControl);  // it has no claim
  if (given("compare.test_sets"))
    comparison.test_sets =
        test_sets_of_tasks(options.sets_of_tasks, tasks_of(names.settings), problems);
  if (given("compare.cost_to")) {
    comparison.cost_to = read_target(options.target, problems);
  } else {
    require_no_target(comparison.metric, place("compare.metric"), problems);
    for (const auto& [task, metric] : comparison.metrics)
      require_no_target(metric, place("compare.metrics"), problems);
  }
  check_has_test_sets(comparison, place("compare.test_sets"), problems);
  return comparison;
}

void check_tests(const ParsedStudy& parsed, const ExpandedTask& expanded, ProblemList& problems) {
  const auto& options = parsed.keys.compare;
  const auto& task = expanded.setting.task;
  const auto& arm = *std::ranges::find(expanded.arms, true, &ExpandedArm::selected);
  const auto& data = arm.run.experiment.data;
  const auto* other = options.metrics_of_tasks.find(task);
  const auto& name = other == nullptr ? options.metric : other->value.scalar;
  const auto* metric = find_metric(name);
  if (metric != nullptr && !is_measured_on(*metric, data))
    problems.add(
        other == nullptr ? parsed.tree.place("compare.metric") : other->value.mark,
        fmt::format(
            "{} is not measured in the task {}; choose {}, for this task alone in compare.metrics",
            name, in_quotes(task), alternatives(names_measured_on(data))));
  const auto* entry = options.sets_of_tasks.find(task);
  if (entry == nullptr) return;
  const auto known = names_of_test_sets(data);
  if (known.empty())
    return problems.add(entry->mark,
                        fmt::format("{} has a single test set; leave it out of compare.test_sets",
                                    in_quotes(task)));
  for (const auto& item : entry->value.items)
    require_known(item.scalar, known, {"test set", "compare.test_sets", item.mark}, problems);
}

void check_even(const ExpandedTask& task, const Study& study, ProblemList& problems) {
  const auto& comparison = *study.compare;
  const auto trained = [&](const std::string& arm) {
    return trained_by(study.configurations, task.name, arm);
  };
  const auto& baseline = *std::ranges::find(task.arms, comparison.baseline, &ExpandedArm::name);
  const auto& training = trained(comparison.baseline)->experiment.training;
  const auto refuse = [&](const ExpandedArm& arm, const std::string& key, const char* name) {
    problems.add(arm.run.tree.place(key),
                 fmt::format("{} of the arm {} is not the baseline's; if that is intended, write "
                             "compare: {{ allow: [{}] }}",
                             key, in_quotes(arm.name), name));
  };
  for (const auto& arm : task.arms) {
    if (!arm.selected) continue;
    const auto& experiment = arm.run.experiment;
    // An evaluated arm has the training of another arm, which is compared with the baseline itself.
    const bool counts = trained(arm.name)->arm == arm.name && !allows(comparison, Uneven::steps);
    if (counts && experiment.training.steps != training.steps)
      refuse(arm, "training.steps", "steps");
    if (counts && experiment.training.budget != training.budget)
      refuse(arm, "training.budget", "steps");
    const auto key = differing_key(experiment, baseline.run.experiment,
                                   [](const auto& path) { return path.starts_with("data."); });
    if (!key.empty() && !allows(comparison, Uneven::data)) refuse(arm, key, "data");
  }
}

void check_measured(const Study& study, const Mark& mark, ProblemList& problems) {
  std::set<std::string> reported;
  for (const auto& clause : study.expect)
    for (const auto& term : {clause.left, clause.right})
      for (const auto& run : study.configurations)
        if (term.arm && run.task == clause.task && run.arm == *term.arm)
          if (const auto why = why_not_measured(term, run);
              !why.empty() && reported.insert(why).second)
            problems.add(mark, "expect: " + why);
}

void check_tokens(const Study& study, const Tree& tree, ProblemList& problems) {
  if (study.compare)
    for (const auto& task : study.tasks)
      for (const auto& arm : study.arms) {
        check_pair(study, {task, study.compare->baseline, arm, metric_of(*study.compare, task)},
                   tree.place("compare.metric"), problems);
        if (study.compare->cost_to)
          check_pair(study, {task, study.compare->baseline, arm, to_target(Resource::steps)},
                     tree.place("compare.cost_to"), problems);
      }
  for (const auto& clause : study.expect)
    if (clause.left.arm && clause.right.arm && clause.left.metric == clause.right.metric)
      check_pair(study, {clause.task, *clause.left.arm, *clause.right.arm, clause.left.metric},
                 tree.place("expect"), problems);
}

void check_over(const Study& study, const Mark& mark, ProblemList& problems) {
  if (!study.declared_compare || study.declared_compare->over == Over::none) return;
  const auto tasks = tasks_of(study.declared_settings).size();
  std::set<std::string> told;
  for (const auto& setting : study.declared_settings)
    if (const auto why = lacking(study, setting, tasks); !why.empty() && told.insert(why).second)
      problems.add(mark, fmt::format("compare.over: {} needs {}",
                                     word_of(study.declared_compare->over), why));
}

}  // namespace ablate::config
