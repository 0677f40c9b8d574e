#include "experiments/report/table/layout.h"

#include <algorithm>

#include "experiments/config/printable.h"

namespace ablate::report {
namespace {

/// Columns in a terminal: a multi-byte sign counts once.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::vector<std::vector<std::string>> texts_of(const Grid& grid) {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& heading : grid.headings)
    lines.front().push_back(config::printable_line(heading));
  for (const auto& row : grid.rows) {
    auto& line = lines.emplace_back();
    for (const auto& cell : row)
      line.push_back(config::printable_line(cell.text) + (cell.best ? "*" : ""));
  }
  return lines;
}

}  // namespace

std::string layout(const Grid& grid) {
  const auto lines = texts_of(grid);
  std::vector<size_t> widths(grid.headings.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  size_t total = 0;
  for (const size_t one : widths) total += one + 2;
  std::string text = grid.title.empty() ? "" : config::printable_line(grid.title) + "\n";
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string row;
    for (size_t i = 0; i < lines[l].size(); ++i) {
      const std::string pad(widths[i] - width(lines[l][i]), ' ');
      row += "  " + (i < grid.names ? lines[l][i] + pad : pad + lines[l][i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    if (l == 0) text += "  " + std::string(total - 2, '-') + "\n";
  }
  if (!grid.note.empty()) text += config::printable_line(grid.note) + "\n";
  return text;
}

}  // namespace ablate::report
