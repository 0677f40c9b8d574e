#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/records/folders.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

constexpr size_t kLongAnswer = 300;  // bytes from which on it is set smaller

Markup fact(const std::string& name, const std::string& value) {
  return element("div", {}, element("dt", {}, text(name)) + element("dd", {}, text(value)));
}

/// "loss", or "loss (words), bleu (pairs)" if tasks have each a metric of their own.
std::string primary_metrics(const analysis::Evidence& evidence) {
  std::map<std::string, std::set<std::string>> tasks;  // by metric
  for (const auto& task : evidence.tasks)
    if (task.parts.empty() && !task.declared_metric.empty())
      tasks[task.declared_metric].insert(task.setting.task);
  if (tasks.size() < 2)
    return evidence.metric.empty() ? "none declared" : analysis::display_name(evidence.metric);
  std::vector<std::string> metrics;
  for (const auto& [metric, names] : tasks)
    metrics.push_back(
        fmt::format("{} ({})", analysis::display_name(metric), fmt::join(names, ", ")));
  return fmt::format("{}", fmt::join(metrics, ", "));
}

size_t most_arms(const analysis::Evidence& evidence) {
  size_t most = 0;
  for (const auto& task : evidence.tasks) most = std::max(most, task.arms.size());
  return most;
}

}  // namespace

Markup opening(const analysis::Evidence& evidence) {
  const auto& question = evidence.question.empty() ? evidence.study : evidence.question;
  const auto header =
      paragraph("study", evidence.study) + heading("h1", question) +
      paragraph(evidence.answer.size() > kLongAnswer ? "answer long" : "answer", evidence.answer);
  return element("header", {}, header + paragraph("study standing", evidence.standing));
}

Markup facts(const analysis::Evidence& evidence) {
  const auto tasks = analysis::count_declared_tasks(evidence.tasks);
  const auto settings = std::ranges::count_if(
      evidence.tasks, [](const analysis::TaskEvidence& task) { return task.parts.empty(); });
  auto facts = fact("primary metric", primary_metrics(evidence)) +
               fact("baseline", evidence.baseline.value_or("none declared")) +
               fact("tasks", std::to_string(tasks)) +
               (settings == tasks ? Markup() : fact("settings", std::to_string(settings))) +
               fact("arms", std::to_string(most_arms(evidence))) +
               fact(evidence.seeds.size() == 1 ? "seed" : "seeds",
                    fmt::format("{}", fmt::join(evidence.seeds, ", ")));
  if (!evidence.missing.empty())
    facts += fact("runs missing", std::to_string(evidence.missing.size()));
  return element("dl", {{"class", "facts"}}, facts);
}

Markup files(const analysis::Evidence& evidence) {
  const records::StudyFolder beside("");
  const auto link = [](const std::filesystem::path& file, const char* words) {
    return element("a", {{"href", file.string()}}, text(words));
  };
  auto links = link(beside.latex_table(), "the tables in LaTeX") + text(", ") +
               link(beside.csv(), "every number as CSV");
  if (!forest_of(evidence).panels.empty())
    links += text(", ") + link(beside.forest(), "the picture of the differences as SVG");
  return element("p", {{"class", "files"}}, text("For a paper, beside this page: ") + links);
}

Markup missing_runs(const analysis::Evidence& evidence) {
  if (evidence.missing.empty()) return {};
  Grid grid{.title = "Missing runs", .columns = {}, .rows = {}};
  for (const auto* heading : {"task", "arm", "seeds", "why"})
    grid.columns.push_back({.heading = heading, .holds = Holds::names});
  const auto but_seed = [](const records::MissingRun& run) {
    return std::array{run.task, run.arm, run.reason};
  };
  const auto seed = [](const auto& run) { return std::to_string(run.seed); };
  for (const auto& [words, runs] : analysis::grouped(evidence.missing, but_seed))
    grid.rows.push_back({{words[0]}, {words[1]}, {analysis::listed(runs, seed)}, {words[2]}});
  return paragraph("", "The report is based on the other runs only.") +
         grid_table(grid, Looks(evidence));
}

Markup expectations(const analysis::Evidence& evidence) {
  if (evidence.expectations.empty()) return {};
  Markup items;
  for (const auto& one : evidence.expectations)
    items += element("li", {{"class", one.holds ? "holds" : "fails"}},
                     element("strong", {}, text(one.holds ? "\u2713 holds" : "\u2717 fails")) +
                         element("code", {}, text(one.text)) +
                         element("span", {{"class", "muted"}}, text(one.numbers)));
  return element("ul", {{"class", "expectations"}}, items);
}

Markup over_tasks(const analysis::Evidence& evidence, const Looks& looks) {
  if (evidence.aggregates.empty()) return {};
  return paragraph("", fmt::format("{} on the first test set within the trained length, in {}: "
                                   "mean of the middle half of all runs, its interval by a "
                                   "bootstrap within settings, "
                                   "and how probable it is that a run of the arm beats one of "
                                   "the baseline, as a mean over settings.",
                                   analysis::display_name(evidence.metric),
                                   pooled_words(evidence.aggregates.front()))) +
         grid_table(aggregate_grid(evidence), looks);
}

Markup notes(const analysis::Evidence& evidence) {
  if (evidence.notes.empty()) return {};
  Markup items;
  for (const auto& note : evidence.notes) items += element("li", {}, text(note));
  return element("ul", {}, items);
}

}  // namespace ablate::report
