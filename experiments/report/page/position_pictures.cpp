#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/analysis/lists.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

constexpr size_t kMostOfNames = 80;  // letters of the schemes' names in a summary
constexpr size_t kMostShown = 8;     // rows and columns of a map's table

/// Some of the map's numbers, evenly over it.
Markup numbers_of(const HeatMap& map) {
  if (map.rows.empty()) return {};
  Markup head = column_heading(map.y_label + " \u2193, " + map.x_label + " \u2192"), rows;
  for (const size_t c : evenly_spaced(map.rows.front().size(), kMostShown))
    head += number_heading(std::to_string(c));
  for (const size_t r : evenly_spaced(map.rows.size(), kMostShown)) {
    auto cells = row_heading(text(std::to_string(r)));
    for (const size_t c : evenly_spaced(map.rows[r].size(), kMostShown))
      cells += number_cell(fixed(map.rows[r][c], 3));
    rows += row(cells);
  }
  return folded("Numbers", scrolled("Numbers of: " + map.title, table(row(head), rows)));
}

Markup drawn(const HeatMap& map) {
  return element("figure", {}, caption(map.title, "") + draw(map) + numbers_of(map));
}

Markup drawn(const PositionPicture& picture) {
  Markup all;
  for (const auto& map : picture.maps) all += drawn(map);
  for (const auto& chart : picture.charts) all += figure(chart, "");
  const auto arms = fmt::format("Arms: {}; drawn with {}, whatever they have",
                                fmt::join(picture.arms, ", "), picture.stack);
  return heading("h3", picture.scheme) + paragraph("muted", picture.arms.empty() ? "" : arms) +
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
  const auto names = analysis::listed(pictures, &PositionPicture::scheme);
  return folded("Pictures of " + shown(names, kMostOfNames), position_pictures(pictures));
}

}  // namespace ablate::report
