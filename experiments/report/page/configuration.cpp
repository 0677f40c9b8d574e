#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

/// Every key that some arm changes, with the baseline's value, in the arms' order.
std::vector<std::pair<std::string, std::string>> changed_keys(const analysis::TaskEvidence& task) {
  std::vector<std::pair<std::string, std::string>> keys;
  std::set<std::string> seen;
  for (const auto& arm : task.arms)
    for (const auto& change : arm.changes)
      if (seen.insert(change.path).second) keys.emplace_back(change.path, change.baseline);
  return keys;
}

/// Keys as rows, arms as columns; an empty cell has the baseline's value.
Markup differences_table(const analysis::TaskEvidence& task) {
  const auto keys = changed_keys(task);
  if (keys.empty()) return paragraph("muted", "No arm changes a key of the baseline.");
  Markup head = column_heading("key") + column_heading("baseline"), rows;
  for (const auto& arm : task.arms)
    if (!arm.baseline) head += column_heading(arm.name);
  for (const auto& [path, baseline] : keys) {
    auto cells = row_heading(element("code", {}, breakable(path))) + cell(or_absent(baseline));
    for (const auto& arm : task.arms) {
      if (arm.baseline) continue;
      const auto found = std::ranges::find(arm.changes, path, &analysis::ChangedKey::path);
      cells += cell(found == arm.changes.end() ? "" : or_absent(found->value));
    }
    rows += row(cells);
  }
  return scrolled("Changed keys", table(row(head), rows));
}

Markup command_block(const std::string& command) {
  return element("pre", {{"tabindex", "0"}}, element("code", {}, text(command)));
}

/// The value of a fact that is the same in all runs; empty otherwise.
std::string common_value(const ReportData& data, const std::string& name) {
  const auto fact = std::ranges::find(data.environment, name, &EnvironmentFact::name);
  const bool one = fact != data.environment.end() && fact->values.size() == 1;
  return one ? fact->values.front().first : "";
}

/// A BibTeX entry of the study.
std::string citation(const std::string& study, const ReportData& data) {
  const auto version = common_value(data, "ablate"), commit = common_value(data, "commit");
  std::string program = "Ablate";
  if (!version.empty()) program += " " + version;
  if (!commit.empty()) program += ", commit " + commit;
  return fmt::format(
      "@misc{{ablate-{0},\n  title = {{{{{0}}}}},\n  note = {{Study run by {1}}}\n}}", study,
      program);
}

}  // namespace

Markup configurations(const analysis::Evidence& evidence, const ReportData& data) {
  Markup content;
  std::vector<const analysis::TaskEvidence*> tasks;
  for (const auto& task : evidence.tasks)
    if (task.parts.empty()) tasks.push_back(&task);
  const auto groups =
      analysis::grouped(tasks, [](const auto* task) { return differences_table(*task); });
  for (const auto& [table, alike] : groups) {
    if (groups.size() > 1)
      content += heading("h3", analysis::listed(alike, &analysis::TaskEvidence::name));
    content += table;
  }
  for (const auto& one : data.configurations)
    content += folded(
        fmt::format("Full configuration of the baseline, first seed, in {}, with the origin of "
                    "each value",
                    one.task),
        command_block(one.yaml));
  if (content.empty()) return content;
  return paragraph("",
                   "Only keys that an arm changes; if a cell is empty, the arm has the baseline's "
                   "value.") +
         content;
}

Markup environment(const ReportData& data) {
  if (data.environment.empty()) return {};
  Markup rows;
  for (const auto& fact : data.environment) {
    Markup values;
    for (const auto& [value, runs] : fact.values) {
      auto words = element("code", {}, text(value));
      if (fact.values.size() > 1)
        words += element("span", {{"class", "muted"}},
                         text(fmt::format(" ({} run{})", runs, runs == 1 ? "" : "s")));
      values += element("div", {}, words);
    }
    rows += row(row_heading(text(analysis::display_name(fact.name))) + element("td", {}, values));
  }
  return scrolled("Environment", element("table", {}, element("tbody", {}, rows)));
}

Markup repetition(const std::string& study, const ReportData& data, const Looks& looks) {
  if (data.commands.empty() && data.command.empty()) return {};
  Markup rows;
  for (const auto& one : data.commands)
    rows += row(cell(one.task) + row_heading(looks.named(one.arm)) +
                element("td", {}, element("code", {{"class", "command"}}, text(one.command))));
  Markup content;
  if (!data.command.empty())
    content +=
        paragraph("", "All of it, from the folder of this page:") + command_block(data.command);
  if (!rows.empty())
    content +=
        folded("Row by row",
               scrolled("Commands", table(row(column_heading("task") + column_heading("arm") +
                                              column_heading("command")),
                                          rows)));
  return content + folded("BibTeX", command_block(citation(study, data)));
}

}  // namespace ablate::report
