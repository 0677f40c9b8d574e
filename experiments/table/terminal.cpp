#include <algorithm>

#include "experiments/table/grid.h"
#include "experiments/table/table.h"

namespace ablate::experiments {
namespace {

constexpr size_t kNames = 2;  // columns that start at the left

/// Control characters must not reach the terminal.
std::string printable(std::string text) {
  for (char& byte : text)
    if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) byte = '?';
  return text;
}

/// Columns in a terminal: a multi-byte sign counts once.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::vector<std::vector<std::string>> texts_of(const Grid& grid) {
  std::vector<std::vector<std::string>> lines{grid.headings};
  for (const auto& row : grid.rows) {
    auto& line = lines.emplace_back();
    for (const auto& cell : row) line.push_back(printable(cell.text) + (cell.best ? "*" : ""));
  }
  return lines;
}

std::string layout(const Grid& grid) {
  const auto lines = texts_of(grid);
  std::vector<size_t> widths(grid.headings.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  size_t total = 0;
  for (const size_t one : widths) total += one + 2;
  std::string text = printable(grid.title) + "\n";
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string row;
    for (size_t i = 0; i < lines[l].size(); ++i) {
      const std::string pad(widths[i] - width(lines[l][i]), ' ');
      row += "  " + (i < kNames ? lines[l][i] + pad : pad + lines[l][i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    if (l == 0) text += "  " + std::string(total - 2, '-') + "\n";
  }
  return text;
}

}  // namespace

std::string terminal_table(const Evidence& evidence) {
  std::string text;
  if (!evidence.question.empty()) text += printable(evidence.question) + "\n";
  text += printable(evidence.answer) + "\n\n";
  bool marked = false;
  for (const auto& grid : grids_of(evidence)) {
    text += layout(grid) + "\n";
    for (const auto& row : grid.rows)
      marked = marked || std::ranges::any_of(row, [](const GridCell& cell) { return cell.best; });
  }
  if (marked) text += "* the best mean on its test set\n";
  for (const auto& remark : remarks_of(evidence)) text += printable(remark) + "\n";
  return text;
}

}  // namespace ablate::experiments
