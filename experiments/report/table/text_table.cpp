#include <algorithm>
#include <sstream>

#include "experiments/config/yaml/problem.h"
#include "experiments/records/folders.h"
#include "experiments/report/table/layout.h"

namespace ablate::report {
namespace {

std::vector<std::vector<std::string>> texts_of(const Grid& grid) {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : grid.columns)
    lines.front().push_back(config::printable_line(column.heading));
  for (const auto& row : grid.rows) {
    auto& line = lines.emplace_back();
    for (const auto& cell : row)
      line.push_back(config::printable_line(cell.text) + (cell.best ? "*" : ""));
  }
  return lines;
}

}  // namespace

std::string wrapped(const std::string& text, const std::string& indent) {
  std::string all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    size_t used = 0;
    for (std::string word; words >> word; used += width(word)) {
      if (used > 0 && used + 1 + width(word) > kScreen) {
        all += "\n" + indent;
        used = width(indent);
      } else if (used > 0) {
        all += ' ';
        ++used;
      }
      all += word;
    }
    all += "\n";
  }
  return all;
}

std::string layout(const Grid& grid) {
  const auto lines = texts_of(grid);
  std::vector<size_t> widths(grid.columns.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  size_t total = 0;
  for (const size_t one : widths) total += one + 2;
  std::string text = wrapped(config::printable_line(grid.title));
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string row;
    for (size_t i = 0; i < lines[l].size(); ++i) {
      const std::string pad(widths[i] - width(lines[l][i]), ' ');
      row += "  " + (grid.columns[i].is_left() ? lines[l][i] + pad : pad + lines[l][i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    if (l == 0) text += "  " + std::string(total - 2, '-') + "\n";
  }
  if (!grid.note.empty()) text += config::printable_line(grid.note) + "\n";
  return text;
}

namespace {

std::string as_text(const analysis::Evidence& evidence, const std::vector<Grid>& grids) {
  std::string text;
  if (!evidence.question.empty()) text += wrapped(config::printable_line(evidence.question));
  text += wrapped(config::printable(evidence.answer));
  if (!evidence.standing.empty()) text += wrapped(config::printable_line(evidence.standing));
  text += "\n";
  bool marked = false;
  for (const auto& grid : grids) {
    text += layout(grid) + "\n";
    for (const auto& row : grid.rows)
      marked = marked || std::ranges::any_of(row, [](const GridCell& cell) { return cell.best; });
  }
  if (marked) text += "* the best mean on its test set\n";
  for (const auto& remark : remarks_of(evidence))
    text += wrapped(config::printable_line(remark), "  ");
  return text;
}

}  // namespace

std::string text_table(const analysis::Evidence& evidence) {
  return as_text(evidence, grids_of(evidence));
}

std::string terminal_table(const analysis::Evidence& evidence) {
  return as_text(evidence, short_grids_of(evidence)) +
         "Every metric and test set: " + records::StudyFolder("").text_table().string() + "\n";
}

}  // namespace ablate::report
