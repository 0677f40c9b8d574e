#include <fmt/format.h>

#include "experiments/analysis/figure.h"
#include "experiments/report/page/page.h"

namespace ablate::report {

Markup components(const TaskView& view) {
  if (view.task.components.empty()) return {};
  const auto grid = component_grid(view.task);
  return heading("h3", "Components of variance") + grid_table(grid, view.looks) +
         paragraph("muted", grid.note);
}

Markup scores(const TaskView& view) {
  if (view.task.arms.empty()) return {};
  const auto table = [&](const std::string& summary, const Grid& grid) {
    return folded(summary, grid_table(grid, view.looks));
  };
  return table("Every seed: " + analysis::display_name(leading_metric(view.task)),
               seed_grid(view.evidence, view.task)) +
         table("Every metric: mean \u00b1 standard deviation over seeds",
               without_empty_columns(score_grid(view.task, true))) +
         table("Sentence tests: do two outputs differ on this very test set?",
               sentence_grid(view.task));
}

namespace {

constexpr size_t kMostCharacters = 400;

Markup line_of(const Markup& who, const std::string& words, const std::string& mark) {
  return row(
      row_heading(who) +
      element("td", {{"class", mark == "exact" ? "match exact" : "match muted"}}, text(mark)) +
      element("td", {{"class", "sample"}}, text(shown(words, kMostCharacters))));
}

Markup draw_samples(const TaskView& view, const SampleOutputs& sample) {
  Markup rows;
  if (!sample.source.empty()) rows += line_of(text("source"), sample.source, "");
  rows += line_of(text("reference"), sample.reference, "");
  for (const auto& [arm, output, exact] : sample.outputs)
    rows += line_of(view.looks.named(arm), output, exact ? "exact" : "differs");
  const auto name = fmt::format("{}, seed {}", sample.test_set, sample.seed);
  return element(
      "div", {{"class", "sample-box"}},
      heading("h4", name) + scrolled("Outputs: " + name, element("table", {{"class", "samples"}},
                                                                 element("tbody", {}, rows))));
}

}  // namespace

Markup samples(const TaskView& view) {
  Markup all;
  for (const auto& sample : view.data.samples)
    if (sample.task == view.task.name) all += draw_samples(view, sample);
  if (all.empty()) return all;
  return heading("h3", "Sample outputs") +
         paragraph("",
                   "The same examples for every arm that has them, chosen by their place in the "
                   "test set.") +
         element("div", {{"class", "figures"}}, all);
}

}  // namespace ablate::report
