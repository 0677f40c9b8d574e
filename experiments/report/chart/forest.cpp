#include "experiments/report/chart/forest.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::report {
namespace {

constexpr double kForestWidth = 560, kForestInset = 10, kSidesHeight = 26, kTitleHeight = 26,
                 kRowHeight = 46, kRowText = 17, kRowMarks = 33, kAxisHeight = 34;
constexpr size_t kLongestRowName = 24, kLongestTitle = 50;

double panel_height(const ForestPanel& panel) {
  double height = kSidesHeight + kAxisHeight;
  for (const auto& group : panel.groups)
    height += kTitleHeight + kRowHeight * static_cast<double>(group.rows.size());
  return height;
}

void take_row(Extent& extent, const ForestRow& row) {
  for (const double value : row.values) extent.take(value);
  extent.take(row.mean);
  extent.take({-row.margin.value_or(0), row.margin.value_or(0)});
  if (row.interval) extent.take(*row.interval);
}

Scale panel_scale(const ForestPanel& panel) {
  Extent extent;
  extent.take(0);
  for (const auto& group : panel.groups)
    for (const auto& row : group.rows) take_row(extent, row);
  return extent.padded(0.04).over(kForestInset, kForestWidth - kForestInset);
}

/// A line from the lower to the upper end, with a short bar at each.
Markup interval_bar(const Scale& x, const statistics::Interval& interval, double y) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return {};
  const auto low = at(x.place(interval.low)), high = at(x.place(interval.high));
  return path("bar", fmt::format("M{0} {2}V{3}M{0} {4}H{1}M{1} {2}V{3}", low, high, at(y - 4),
                                 at(y + 4), at(y)));
}

Markup draw_row(const ForestRow& row, const Scale& x, double top) {
  const double y = top + kRowMarks;
  Markup drawn;
  if (row.interval) drawn += interval_bar(x, *row.interval, y);
  for (size_t i = 0, shown = 0; i < row.values.size(); ++i) {
    if (!std::isfinite(row.values[i])) continue;
    const double aside = static_cast<double>(shown++ % 3) - 1;  // equal values stay visible
    drawn += element("circle", {{"class", "dot"},
                                {"cx", at(x.place(row.values[i]))},
                                {"cy", at(y + 4 * aside)},
                                {"r", "2.6"}});
  }
  if (std::isfinite(row.mean)) drawn += marker(row.look, x.place(row.mean), y);
  drawn += marker(row.look, kForestInset + 5, top + kRowText - 4);
  return element("g", {{"class", row.look.colour_class()}}, drawn) +
         words(kForestInset + 16, top + kRowText, "name", shown(row.name, kLongestRowName)) +
         words(kForestWidth - kForestInset, top + kRowText, "figures end", row.figures);
}

Markup draw_axis(const Scale& x, double top) {
  auto drawn = path(
      "axis", fmt::format("M{} {}H{}", at(kForestInset), at(top), at(kForestWidth - kForestInset)));
  for (const double tick : x.ticks(5)) {
    drawn += path("axis", fmt::format("M{} {}v4", at(x.place(tick)), at(top)));
    drawn += words(x.place(tick), top + 20, "tick middle", plain(tick));
  }
  return drawn;
}

/// The margin as a band and zero as a line, behind the marks of a row but not behind its words.
Markup draw_ground(const ForestRow& row, const Scale& x, double top) {
  const double from = top + kRowText + 5, to = top + kRowHeight;
  Markup drawn;
  if (row.margin)
    drawn += element(
        "rect", {{"class", "margin"},
                 {"x", at(x.place(-*row.margin))},
                 {"y", at(from)},
                 {"width", fmt::format("{:.2f}", x.place(*row.margin) - x.place(-*row.margin))},
                 {"height", at(to - from)}});
  return drawn + path("zero", fmt::format("M{} {}V{}", at(x.place(0)), at(from), at(to)));
}

Markup draw_panel(const ForestPanel& panel, double top) {
  const auto x = panel_scale(panel);
  const double bottom = top + panel_height(panel) - kAxisHeight;
  auto drawn = draw_axis(x, bottom);
  if (!panel.low_side.empty())
    drawn += words(kForestInset, top + kRowText, "label", "\u2190 " + panel.low_side);
  if (!panel.high_side.empty())
    drawn += words(kForestWidth - kForestInset, top + kRowText, "label end",
                   panel.high_side + " \u2192");
  double y = top + kSidesHeight;
  for (const auto& group : panel.groups) {
    drawn += words(kForestInset, y + kRowText, "group", shown(group.title, kLongestTitle));
    y += kTitleHeight;
    for (const auto& row : group.rows) {
      drawn += draw_ground(row, x, y) + draw_row(row, x, y);
      y += kRowHeight;
    }
  }
  return drawn;
}

double forest_height(const Forest& forest) {
  double height = 0;
  for (const auto& panel : forest.panels) height += panel_height(panel);
  return height;
}

Markup draw_panels(const Forest& forest) {
  Markup drawn;
  double top = 0;
  for (const auto& panel : forest.panels) {
    drawn += draw_panel(panel, top);
    top += panel_height(panel);
  }
  return drawn;
}

std::string spoken_rows(const Forest& forest) {
  auto all = forest.title;
  for (const auto& panel : forest.panels)
    for (const auto& group : panel.groups)
      for (const auto& row : group.rows)
        all += fmt::format("; {}, {}: {}", group.title, row.name, row.figures);
  return all;
}

constexpr const char* kPaperRules = R"(
text{font:12.5px "Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif;fill:#000}
.group{font-weight:bold}.tick,.label{fill:#444}
.end{text-anchor:end}.middle{text-anchor:middle}
.axis{stroke:#666;fill:none}.zero{stroke:#000;stroke-dasharray:3 2;fill:none}
.margin{fill:#d9e4ec}
.bar{stroke-width:1.8;fill:none}.mark{stroke:#fff;stroke-width:1}.dot{opacity:.45}
)";

}  // namespace

Markup draw(const Forest& forest) {
  return svg("forest", {kForestWidth, forest_height(forest)}, spoken_rows(forest),
             draw_panels(forest));
}

std::string forest_file(const Forest& forest) {
  std::string rules = kPaperRules;
  for (size_t i = 0; i < kColours; ++i)
    rules += fmt::format(".c{0} .bar{{stroke:{1}}}.c{0} .mark,.c{0} .dot{{fill:{1}}}\n", i,
                         i == 0 ? "#000" : kLightPalette[i]);
  const auto height = at(forest_height(forest));
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         element(
             "svg",
             {{"xmlns", "http://www.w3.org/2000/svg"},
              {"viewBox", fmt::format("0 0 {} {}", kForestWidth, height)},
              {"width", at(kForestWidth)},
              {"height", height}},
             element("title", {}, text(forest.title)) + style_element(rules) + draw_panels(forest))
             .html() +
         "\n";
}

}  // namespace ablate::report
