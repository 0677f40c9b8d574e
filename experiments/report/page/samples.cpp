#include <fmt/format.h>

#include "experiments/report/page/sections.h"

namespace ablate::report {
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
  return element("div", {{"class", "sample-box"}},
                 heading("h4", "", name) +
                     scrolled("Outputs: " + name, element("table", {{"class", "samples"}},
                                                          element("tbody", {}, rows))));
}

}  // namespace

Markup samples(const TaskView& view) {
  Markup all;
  for (const auto& sample : view.data.samples)
    if (sample.task == view.task.name) all += draw_samples(view, sample);
  if (all.empty()) return all;
  return heading("h3", "", "Sample outputs") +
         paragraph("", "The same examples for every arm, chosen by their place in the test set.") +
         element("div", {{"class", "figures"}}, all);
}

}  // namespace ablate::report
