#include "experiments/config/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "experiments/config/arm.h"
#include "experiments/config/document.h"
#include "experiments/config/leaf.h"
#include "experiments/config/overlay.h"
#include "experiments/config/run_check.h"
#include "experiments/config/selection.h"
#include "experiments/config/study_file.h"
#include "experiments/config/study_schema.h"
#include "experiments/config/suggestion.h"

namespace ablate::experiments {
namespace {

constexpr size_t kMostRuns = 10'000;

struct Layered {
  Experiment experiment;
  Trail trail;
};

std::string origin(const Mark& mark) {
  if (mark.source->name == kSetSource) return mark.source->name;
  return fmt::format("{}:{}", std::filesystem::path(mark.source->name).filename().string(),
                     mark.line + 1);
}

std::map<std::string, std::string> origins_of(const Layered& run) {
  std::vector<Leaf> leaves;
  collect_leaves(run.experiment, "", leaves);
  std::map<std::string, std::string> origins;
  for (const auto& leaf : leaves) {
    const auto found = run.trail.marks.find(leaf.path);
    origins[leaf.path] = found == run.trail.marks.end() ? "default" : origin(found->second);
  }
  return origins;
}

/// Turns one study file and one selection into runs; every step adds its problems to one list.
class StudyBuilder {
 public:
  StudyBuilder(const std::filesystem::path& file, const Selection& selection)
      : source_(read_source(file)), selection_(selection) {
    study_.file = file;
    study_.data_folder = selection.data_folder.value_or(file.parent_path());
    trail_.start = {source_, 0, 0};
  }

  Study build() {
    Reader(schema_, problems_, trail_).lay_over(parse_mapping(source_, problems_), file_);
    read_plain_keys();
    read_tasks_and_arms();
    study_.tasks = selected(names_of(tasks_), selection_.tasks, {"--tasks", "task"}, problems_);
    study_.arms = selected(names_of(arms_), selection_.arms, {"--arms", "arm"}, problems_);
    check_comparison();
    if (runs_fit()) lay_layers();
    check_.report(problems_);
    problems_.raise();
    return std::move(study_);
  }

 private:
  bool given(const std::string& key) const { return trail_.marks.contains(key); }
  bool readable(const std::string& key) const { return !trail_.failed.contains(key); }

  void need(bool holds, const std::string& key, const std::string& why) {
    if (!holds && readable(key)) problems_.add(trail_.place(key), why);
  }

  void read_plain_keys() {
    need(given("name"), "name", "missing key 'name'; it names the output folder");
    need(given("seeds") || !selection_.seeds.empty(), "seeds", "missing key 'seeds'; write [1]");
    if (given("name") && readable("name"))
      check_name(file_.name, "study", trail_.place("name"), problems_);
    if (given("seeds")) check_seeds(file_.seeds, trail_.place("seeds"), problems_);
    need(std::ranges::find(file_.expect, "") == file_.expect.end(), "expect",
         "expect holds an empty text");
    study_.name = file_.name;
    study_.question = file_.question;
    study_.expect = file_.expect;
    study_.declared_seeds = file_.seeds;
    study_.seeds = selection_.seeds.empty() ? file_.seeds : selected_seeds(selection_, problems_);
  }

  void read_tasks_and_arms() {
    sets_ = set_layer(selection_.sets, problems_);
    if (given("tasks")) tasks_ = variations(file_.tasks, "task", problems_);
    if (given("arms")) arms_ = variations(file_.arms, "arm", problems_);
    if (given("grid")) arms_ = multiplied(arms_, file_.grid, problems_);
    if (arms_.empty()) arms_.push_back({.name = "base"});
    if (given("base")) lay(file_.base, base_, true);
    base_.trail.start = trail_.start;
    if (tasks_.empty()) tasks_.push_back({.name = name_of_base_task()});
  }

  std::string name_of_base_task() const {
    if (!base_.trail.marks.contains("data.task")) return "task";
    return std::visit([](const auto& task) { return std::string(task.name); },
                      base_.experiment.data);
  }

  void check_comparison() {
    if (!given("compare")) return;
    const auto names = names_of(arms_);
    const bool known = std::ranges::find(names, file_.compare.baseline) != names.end();
    need(given("compare.baseline"), "compare.baseline",
         "compare needs 'baseline', one of the arms");
    if (given("compare.baseline"))
      need(known, "compare.baseline",
           fmt::format("unknown arm {} in compare.baseline{}", in_quotes(file_.compare.baseline),
                       did_you_mean(file_.compare.baseline, names)));
    const bool metric = std::ranges::find(metrics(), file_.compare.metric) != metrics().end();
    need(given("compare.metric"), "compare.metric",
         fmt::format("compare needs 'metric'; choose {}", alternatives(metrics())));
    if (given("compare.metric"))
      need(metric, "compare.metric",
           fmt::format("unknown metric {} in compare{}", in_quotes(file_.compare.metric),
                       did_you_mean(file_.compare.metric, metrics())));
    auto metrics_of_tasks = read_task_metrics();
    if (is_selected(file_.compare.baseline, study_.arms))
      study_.compare = Comparison{file_.compare.baseline, file_.compare.metric,
                                  std::move(metrics_of_tasks), file_.compare.allow};
  }

  std::map<std::string, std::string> read_task_metrics() {
    std::map<std::string, std::string> found;
    if (!given("compare.metrics")) return found;
    const auto& section = file_.compare.metrics;
    if (section.type != Value::Type::mapping)
      problems_.add(section.mark, "compare.metrics must be a mapping of tasks to metrics");
    for (const auto& entry : section.entries) {
      const auto tasks = names_of(tasks_);
      if (std::ranges::find(tasks, entry.key) == tasks.end())
        problems_.add(entry.mark,
                      fmt::format("unknown task {} in compare.metrics{}", in_quotes(entry.key),
                                  did_you_mean(entry.key, tasks)));
      const auto& metric = entry.value.scalar;
      if (std::ranges::find(metrics(), metric) == metrics().end())
        problems_.add(entry.value.mark,
                      fmt::format("unknown metric {} in compare.metrics{}", in_quotes(metric),
                                  did_you_mean(metric, metrics())));
      found[entry.key] = metric;
    }
    return found;
  }

  bool runs_fit() {
    const size_t runs = tasks_.size() * arms_.size() * std::max<size_t>(1, study_.seeds.size());
    if (runs > kMostRuns)
      problems_.add(trail_.start,
                    fmt::format("the study has {} runs; at most {} are possible", runs, kMostRuns));
    return runs <= kMostRuns;
  }

  void lay_layers() {
    for (const auto& task : tasks_) {
      Layered of_task = base_;
      for (const auto& layer : task.layers) lay(layer, of_task, false);
      for (const auto& arm : arms_) {
        Layered run = of_task;
        for (const auto& layer : arm.layers) lay(layer, run, false);
        const bool wanted =
            is_selected(task.name, study_.tasks) && is_selected(arm.name, study_.arms);
        // Options of the command line may fit the selected arms alone.
        if (wanted) lay(sets_, run, false);
        report_missing(schema_of_run_, run.trail, problems_);
        check_start(arm.name, run);
        check_.add({task.name, arm.name}, run.experiment, run.trail);
        study_.configurations.push_back({task.name, arm.name, run.experiment});
        if (wanted) add_runs(task.name, arm.name, run);
      }
    }
  }

  void lay(const Value& layer, Layered& run, bool dotted) {
    if (run.trail.start.source == nullptr) run.trail.start = trail_.start;
    Reader reader(schema_of_run_, problems_, run.trail);
    reader.lay_over(dotted ? nested(layer, problems_) : layer, run.experiment);
  }

  /// An arm starts from one that stands before it, so that no circle can close.
  void check_start(const std::string& arm, const Layered& run) {
    const auto& from = run.experiment.training.start.arm;
    if (!from || run.trail.failed.contains("training.start.arm")) return;
    const auto names = names_of(arms_);
    const auto found = std::ranges::find(names, *from);
    if (found < std::ranges::find(names, arm)) return;
    const auto place = run.trail.place("training.start.arm");
    problems_.add(place, found == names.end()
                             ? fmt::format("unknown arm {} in training.start.arm{}",
                                           in_quotes(*from), did_you_mean(*from, names))
                             : fmt::format("the arm {} cannot start from {}, which must stand "
                                           "before it in the file",
                                           in_quotes(arm), in_quotes(*from)));
  }

  void add_runs(const std::string& task, const std::string& arm, const Layered& run) {
    const auto origins = origins_of(run);
    for (const int64_t seed : study_.seeds)
      study_.runs.push_back({task, arm, seed, run.experiment, origins});
  }

  std::shared_ptr<const Source> source_;
  const Selection& selection_;
  Schema schema_ = study_schema();
  Schema schema_of_run_ = experiment_schema();
  ProblemList problems_;
  Trail trail_;
  StudyFile file_;
  Layered base_;
  std::vector<Variation> tasks_, arms_;
  Value sets_;
  RunCheck check_;
  Study study_;
};

}  // namespace

const std::string& metric_of(const Comparison& comparison, const std::string& task) {
  const auto found = comparison.metrics.find(task);
  return found == comparison.metrics.end() ? comparison.metric : found->second;
}

bool allows(const Comparison& comparison, Uneven uneven) {
  return std::ranges::find(comparison.allow, uneven) != comparison.allow.end();
}

Study read_study(const std::filesystem::path& file, const Selection& selection) {
  return StudyBuilder(file, selection).build();
}

}  // namespace ablate::experiments
