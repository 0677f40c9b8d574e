#include "experiments/report/page/parts.h"

#include <algorithm>
#include <set>

#include "experiments/report/chart/scale.h"

namespace ablate::report {
namespace {

constexpr size_t kUnbroken = 13;  // letters of a name that stays in one line
constexpr size_t kMostRows = 15;  // of the numbers of a chart

}  // namespace

Markup heading(const char* level, const std::string& words) {
  return element(level, {}, text(words));
}

Markup paragraph(const char* kind, const std::string& words) {
  if (words.empty()) return {};
  std::vector<Attribute> attributes;
  if (*kind != '\0') attributes.push_back({"class", kind});
  return element("p", attributes, text(words));
}

Markup cell(const std::string& words) { return element("td", {}, text(words)); }

Markup number_cell(const std::string& words) {
  return element("td", {{"class", "number"}}, text(words));
}

Markup column_heading(const std::string& words) {
  return element("th", {{"scope", "col"}}, text(words));
}

Markup number_heading(const std::string& words) {
  return element("th", {{"scope", "col"}, {"class", "number"}}, text(words));
}

Markup row_heading(const Markup& content) { return element("th", {{"scope", "row"}}, content); }

std::string or_absent(const std::string& value) { return value.empty() ? "absent" : value; }

Markup breakable(const std::string& path) {
  Markup result;
  for (size_t from = 0, to = 0; from < path.size(); from = to) {
    to = std::min(path.find('.', from), path.size() - 1) + 1;
    result += text(path.substr(from, to - from));
    if (to < path.size()) result += element("wbr");
  }
  return result;
}

Markup row(const Markup& cells) { return element("tr", {}, cells); }

Markup scrolled(const std::string& name, const Markup& table) {
  return element("div",
                 {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", name}},
                 table);
}

Markup table(const Markup& head_rows, const Markup& body_rows) {
  return element("table", {}, element("thead", {}, head_rows) + element("tbody", {}, body_rows));
}

Markup folded(const std::string& summary, const Markup& content) {
  if (content.empty()) return {};
  return element("details", {}, element("summary", {}, text(summary)) + content);
}

const char* sign_of(analysis::Verdict verdict) {
  if (verdict == analysis::Verdict::better) return "\u25b2 ";
  if (verdict == analysis::Verdict::worse) return "\u25bc ";
  return is_claim(verdict) ? "= " : "\u00b7 ";
}

std::string baseline_name(const analysis::TaskEvidence& task) {
  const auto* baseline = analysis::baseline_of(task);
  return baseline == nullptr ? "" : baseline->name;
}

Markup table_of(const LineChart& chart) {
  std::set<double> places;
  auto head = column_heading(chart.x_label);
  for (const auto& line : chart.lines) {
    head += column_heading(shown(line.name, 60));
    for (const auto& point : line.points) places.insert(point.x);
  }
  const std::vector<double> xs(places.begin(), places.end());
  Markup rows;
  for (const size_t place : evenly_spaced(xs.size(), kMostRows)) {
    auto cells = row_heading(text(plain(xs[place])));
    for (const auto& line : chart.lines) {
      const auto found = std::ranges::find(line.points, xs[place], &Point::x);
      cells += number_cell(found == line.points.end() ? "" : plain(found->y));
    }
    rows += row(cells);
  }
  return table(row(head), rows);
}

Markup caption(const std::string& title, const std::string& words) {
  return element("figcaption", {}, element("strong", {}, text(title)) + text(words));
}

Markup figure(const LineChart& chart, const std::string& explanation) {
  if (chart.lines.empty()) return {};
  return element("figure", {},
                 caption(chart.title, " " + explanation) + draw(chart) +
                     folded("Numbers", scrolled("Numbers of: " + chart.title, table_of(chart))));
}

Markup figures(const Markup& content) {
  return content.empty() ? content : element("div", {{"class", "figures"}}, content);
}

Looks::Looks(const analysis::Evidence& evidence) {
  if (evidence.baseline) arms_.push_back(*evidence.baseline);
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      if (std::ranges::find(arms_, arm.name) == arms_.end()) arms_.push_back(arm.name);
}

Look Looks::of(const std::string& arm) const {
  return {static_cast<size_t>(std::ranges::find(arms_, arm) - arms_.begin())};
}

Markup Looks::named(const std::string& arm) const {
  const bool is_short = shown(arm, kUnbroken) == shown(arm);
  return element(
      "span", {{"class", "arm"}},
      swatch(of(arm)) + element("span", {{"class", is_short ? "short" : "long"}}, text(arm)));
}

Markup Looks::legend(const std::vector<std::string>& arms) const {
  Markup items;
  for (const auto& arm : arms) items += element("li", {}, named(arm));
  return element("ul", {{"class", "legend"}}, items);
}

std::vector<const RunRecord*> TaskView::runs_of(const std::string& arm) const {
  std::vector<const RunRecord*> runs;
  for (const auto& run : data.runs)
    if (run.task == task.name && run.arm == arm) runs.push_back(&run);
  return runs;
}

std::vector<size_t> evenly_spaced(size_t count, size_t most) {
  std::vector<size_t> places;
  const size_t kept = std::min(count, most);
  for (size_t i = 0; i < kept; ++i) places.push_back(kept < 2 ? 0 : i * (count - 1) / (kept - 1));
  return places;
}

std::vector<std::string> test_sets(const analysis::TaskEvidence& task) {
  std::vector<std::string> names;
  for (const auto& arm : task.arms)
    for (const auto& cell : arm.cells)
      if (std::ranges::find(names, cell.test_set) == names.end()) names.push_back(cell.test_set);
  return names;
}

}  // namespace ablate::report
