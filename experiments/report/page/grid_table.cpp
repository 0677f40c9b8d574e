#include <algorithm>

#include "experiments/config/schema/option.h"
#include "experiments/report/page/parts.h"

namespace ablate::report {
namespace {

bool is_figure(const GridColumn& column) {
  return column.holds == Holds::figures || column.holds == Holds::differences;
}

size_t leading_names(const Grid& grid) {
  return static_cast<size_t>(std::ranges::find_if_not(grid.columns, &GridColumn::is_left) -
                             grid.columns.begin());
}

Look look_of(const Grid& grid, const GridRow& row, const Looks& looks) {
  const auto arms = std::ranges::find(grid.columns, Holds::arms, &GridColumn::holds);
  return arms == grid.columns.end()
             ? Look{}
             : looks.of(row[static_cast<size_t>(arms - grid.columns.begin())].text);
}

std::vector<Extent> extents_of(const Grid& grid) {
  std::vector<Extent> extents(grid.columns.size());
  for (const auto& row : grid.rows)
    for (size_t column = 0; column < row.size(); ++column)
      if (row[column].strip) take(extents[column], *row[column].strip);
  return extents;
}

std::string class_of(const GridColumn& column, const GridCell& cell) {
  if (cell.verdict)
    return is_claim(*cell.verdict) ? "verdict claim " + std::string(config::word_of(*cell.verdict))
                                   : "verdict";
  std::string kind = is_figure(column) ? "number" : "";
  if (column.holds == Holds::differences) kind += " difference";
  if (!column.narrow) kind += kind.empty() ? "wide" : " wide";
  return kind;
}

Markup with_below(const Markup& content, const std::string& below) {
  return below.empty() ? content
                       : content + element("span", {{"class", "below"}}, text(typeset(below)));
}

Markup content_of(const GridColumn& column, const GridCell& cell, const Look& look,
                  const Extent& extent) {
  if (cell.strip) {
    auto strip = *cell.strip;
    strip.look = look;
    return draw(strip, extent);
  }
  const auto sign = cell.verdict ? std::string(sign_of(*cell.verdict)) : "";
  const auto words = text(sign + (is_figure(column) ? typeset(cell.text) : cell.text));
  const bool headed = column.holds == Holds::words && !cell.below.empty();
  return with_below(cell.best ? element("strong", {}, words) : words,
                    (headed ? column.below + ": " : "") + cell.below);
}

Markup table_cell(const std::string& kind, const Markup& content) {
  std::vector<Attribute> attributes;
  if (!kind.empty()) attributes.push_back({"class", kind});
  return element("td", attributes, content);
}

bool is_empty(const GridCell& cell) { return cell.text.empty() && !cell.strip; }

Markup cells_of(const Grid& grid, const GridRow& row, const Look& look,
                const std::vector<Extent>& extents) {
  Markup cells;
  for (size_t i = leading_names(grid); i < row.size(); ++i) {
    const auto& column = grid.columns[i];
    const auto& cell = row[i];
    const auto rest = row.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (cell.spans && std::all_of(rest, row.end(), is_empty))
      return cells +
             element("td",
                     {{"colspan", std::to_string(row.size() - i)}, {"class", "muted verdict"}},
                     text(typeset(cell.text)));
    cells += table_cell(class_of(column, cell), content_of(column, cell, look, extents[i]));
  }
  return cells;
}

}  // namespace

std::vector<Markup> axes_of(const Grid& grid) {
  const auto extents = extents_of(grid);
  std::vector<Markup> axes(grid.columns.size());
  for (const auto& row : grid.rows)
    for (size_t column = 0; column < row.size(); ++column)
      if (const auto& strip = row[column].strip)
        axes[column] = strip_axis(extents[column], strip->metric);
  return axes;
}

Markup column_heads(const Grid& grid, const std::vector<Markup>& axes) {
  Markup heads;
  for (size_t i = leading_names(grid); i < grid.columns.size(); ++i) {
    const auto& column = grid.columns[i];
    std::vector<Attribute> attributes{{"scope", "col"}};
    if (is_figure(column)) attributes.push_back({"class", "number"});
    heads += element("th", attributes,
                     with_below(text(column.heading), column.below + column.qualifier) +
                         (axes.empty() ? Markup() : axes[i]));
  }
  return heads;
}

std::vector<Markup> row_cells(const Grid& grid, const Looks& looks) {
  const auto extents = extents_of(grid);
  std::vector<Markup> rows;
  for (const auto& row : grid.rows)
    rows.push_back(cells_of(grid, row, look_of(grid, row, looks), extents));
  return rows;
}

Markup grid_table(const Grid& grid, const Looks& looks) {
  if (grid.rows.empty()) return {};
  Markup head, rows;
  const auto names = leading_names(grid);
  for (size_t i = 0; i < names; ++i) head += column_heading(grid.columns[i].heading);
  const auto cells = row_cells(grid, looks);
  for (size_t i = 0; i < cells.size(); ++i) {
    Markup line;
    for (size_t column = 0; column < names; ++column) {
      const auto& name = grid.rows[i][column].text;
      line +=
          grid.columns[column].holds == Holds::arms ? row_heading(looks.named(name)) : cell(name);
    }
    rows += row(line + cells[i]);
  }
  return scrolled(grid.title, table(row(head + column_heads(grid)), rows));
}

}  // namespace ablate::report
