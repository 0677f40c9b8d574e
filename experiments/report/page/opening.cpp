#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "experiments/analysis/figure.h"
#include "experiments/records/folders.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

constexpr size_t kLongAnswer = 300;  // bytes from which on it is set smaller

std::string listed(const std::vector<int64_t>& seeds) {
  std::string list;
  for (const auto seed : seeds) list += (list.empty() ? "" : ", ") + std::to_string(seed);
  return list;
}

Markup fact(const std::string& name, const std::string& value) {
  return element("div", {}, element("dt", {}, text(name)) + element("dd", {}, text(value)));
}

size_t most_arms(const analysis::Evidence& evidence) {
  size_t most = 0;
  for (const auto& task : evidence.tasks) most = std::max(most, task.arms.size());
  return most;
}

}  // namespace

Markup opening(const analysis::Evidence& evidence) {
  const auto& question = evidence.question.empty() ? evidence.study : evidence.question;
  auto header =
      paragraph("study", evidence.study) + heading("h1", "", question) +
      paragraph(evidence.answer.size() > kLongAnswer ? "answer long" : "answer", evidence.answer);
  if (!evidence.standing.empty()) header += paragraph("study standing", evidence.standing);
  return element("header", {}, header);
}

Markup facts(const analysis::Evidence& evidence) {
  const auto tasks = analysis::count_declared_tasks(evidence.tasks);
  const auto settings = std::ssize(evidence.tasks);
  auto facts =
      fact("primary metric",
           evidence.metric.empty() ? "none declared" : analysis::display_name(evidence.metric)) +
      fact("baseline", evidence.baseline.value_or("none declared")) +
      fact("tasks", std::to_string(tasks)) +
      (settings == tasks ? Markup() : fact("settings", std::to_string(settings))) +
      fact("arms", std::to_string(most_arms(evidence))) +
      fact(evidence.seeds.size() == 1 ? "seed" : "seeds", listed(evidence.seeds));
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
  std::vector<std::pair<records::MissingRun, std::vector<int64_t>>>
      alike;  // runs that differ in their seed
  for (const auto& run : evidence.missing) {
    const auto found = std::ranges::find_if(alike, [&](const auto& one) {
      return one.first.task == run.task && one.first.arm == run.arm &&
             one.first.reason == run.reason;
    });
    (found == alike.end() ? alike.emplace_back(run, std::vector<int64_t>()) : *found)
        .second.push_back(run.seed);
  }
  Markup rows;
  for (const auto& [run, seeds] : alike)
    rows += row(cell(run.task) + cell(run.arm) + cell(listed(seeds)) + cell(run.reason));
  const auto count = evidence.missing.size();
  const auto head = column_heading("task") + column_heading("arm") + column_heading("seeds") +
                    column_heading("why");
  return element(
      "section", {{"class", "warning"}, {"id", "missing"}},
      heading("h2", "", fmt::format("{} run{} missing", count, count == 1 ? " is" : "s are")) +
          paragraph("", "The report is based on the other runs only.") +
          scrolled("Missing runs", table(row(head), rows)));
}

Markup expectations(const analysis::Evidence& evidence) {
  if (evidence.expectations.empty()) return {};
  Markup items;
  for (const auto& one : evidence.expectations)
    items += element("li", {{"class", one.holds ? "holds" : "fails"}},
                     element("strong", {}, text(one.holds ? "\u2713 holds" : "\u2717 fails")) +
                         element("code", {}, text(one.text)) +
                         element("span", {{"class", "muted"}}, text(one.numbers)));
  return element(
      "section", {{"id", "expectations"}},
      heading("h2", "", "Expectations") + element("ul", {{"class", "expectations"}}, items));
}

Markup over_tasks(const analysis::Evidence& evidence, const Looks& looks) {
  if (evidence.aggregates.empty()) return {};
  return element(
      "section", {{"id", "all-tasks"}},
      heading("h2", "", "Over all tasks") +
          paragraph("", fmt::format("{} within the trained length, in {}: mean of the middle half "
                                    "of all runs, its interval by a bootstrap within settings, "
                                    "and how probable it is that a run of the arm beats one of "
                                    "the baseline, as a mean over settings.",
                                    analysis::display_name(evidence.metric),
                                    pooled_words(evidence.aggregates.front()))) +
          grid_table(aggregate_grid(evidence), looks));
}

Markup notes(const analysis::Evidence& evidence) {
  if (evidence.notes.empty()) return {};
  Markup items;
  for (const auto& note : evidence.notes) items += element("li", {}, text(note));
  return element("section", {{"id", "notes"}},
                 heading("h2", "", "Notes") + element("ul", {}, items));
}

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

/// Tasks whose arms have the same changes, with these changes.
std::vector<std::pair<std::vector<const analysis::TaskEvidence*>, Markup>> alike(
    const analysis::Evidence& evidence) {
  std::vector<std::pair<std::vector<const analysis::TaskEvidence*>, Markup>> groups;
  for (const auto& task : evidence.tasks) {
    auto table = differences_table(task);
    const auto found = std::ranges::find_if(
        groups, [&](const auto& group) { return group.second.html() == table.html(); });
    if (found == groups.end())
      groups.emplace_back(std::vector{&task}, std::move(table));
    else
      found->first.push_back(&task);
  }
  return groups;
}

}  // namespace

Markup configurations(const analysis::Evidence& evidence, const ReportData& data) {
  Markup content;
  const auto groups = alike(evidence);
  for (const auto& [tasks, table] : groups) {
    std::string names;
    for (const auto* task : tasks) names += (names.empty() ? "" : ", ") + task->name;
    if (groups.size() > 1) content += heading("h3", "", names);
    content += table;
  }
  for (const auto& one : data.configurations)
    content += folded(
        "Full configuration of the baseline in " + one.task + ", with the origin of each value",
        command_block(one.yaml));
  if (content.empty()) return content;
  return element("section", {{"id", "configuration"}},
                 heading("h2", "", "Configuration") +
                     paragraph("",
                               "Only keys that an arm changes; if a cell is empty, the arm has the "
                               "baseline's value.") +
                     content);
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
  return element("section", {{"id", "environment"}},
                 heading("h2", "", "Environment") +
                     scrolled("Environment", element("table", {}, element("tbody", {}, rows))));
}

namespace {

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
  content += folded("BibTeX", command_block(citation(study, data)));
  return element("section", {{"id", "repeat"}}, heading("h2", "", "Repeat it") + content);
}

namespace {

constexpr size_t kMostOfNames = 80;  // letters of the schemes' names in a summary
constexpr size_t kMostShown = 8;     // rows and columns of a map's table

/// The rows or columns of `count` that are shown, including the first and the last.
std::vector<size_t> evenly_spaced(size_t count) {
  std::vector<size_t> places;
  const size_t shown = std::min(count, kMostShown);
  for (size_t i = 0; i < shown; ++i)
    places.push_back(shown < 2 ? 0 : i * (count - 1) / (shown - 1));
  return places;
}

/// Some of the map's numbers, evenly over it.
Markup numbers_of(const HeatMap& map) {
  if (map.rows.empty()) return {};
  Markup head = column_heading(map.y_label + " \u2193, " + map.x_label + " \u2192"), rows;
  for (const size_t c : evenly_spaced(map.rows.front().size()))
    head += number_heading(std::to_string(c));
  for (const size_t r : evenly_spaced(map.rows.size())) {
    auto cells = row_heading(text(std::to_string(r)));
    for (const size_t c : evenly_spaced(map.rows[r].size()))
      cells += number_cell(fixed(map.rows[r][c], 3));
    rows += row(cells);
  }
  return folded("Numbers", scrolled("Numbers of: " + map.title, table(row(head), rows)));
}

Markup drawn(const HeatMap& map) {
  return element("figure", {},
                 element("figcaption", {}, element("strong", {}, text(map.title))) + draw(map) +
                     numbers_of(map));
}

Markup drawn(const PositionPicture& picture) {
  std::string arms;
  for (const auto& arm : picture.arms) arms += (arms.empty() ? "Arms: " : ", ") + arm;
  Markup all;
  for (const auto& map : picture.maps) all += drawn(map);
  for (const auto& chart : picture.charts) all += figure(chart, "");
  return heading("h3", "", picture.scheme) + (arms.empty() ? Markup() : paragraph("muted", arms)) +
         element("div", {{"class", "figures small"}}, all);
}

}  // namespace

Markup position_pictures(const std::vector<PositionPicture>& pictures) {
  if (pictures.empty()) return {};
  auto content = paragraph("",
                           "Position schemes before the first step; trained schemes have their "
                           "initial values. Blue is below zero, red above, grey hidden.");
  for (const auto& picture : pictures) content += drawn(picture);
  return content;
}

Markup position_schemes(const std::vector<PositionPicture>& pictures) {
  if (pictures.empty()) return {};
  std::string names;
  for (const auto& picture : pictures) names += (names.empty() ? "" : ", ") + picture.scheme;
  return element(
      "section", {{"id", "positions"}},
      heading("h2", "", "Position schemes") +
          folded("Pictures of " + shown(names, kMostOfNames), position_pictures(pictures)));
}

}  // namespace ablate::report
