#include <sstream>
#include <string_view>

#include "experiments/report/table/layout.h"

namespace ablate::report {
namespace {

/// Text that Markdown shows unchanged, in one line and in one cell.
std::string in_markdown(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (static_cast<unsigned char>(letter) < 0x20) {
      safe += ' ';
      continue;
    }
    if (letter == '<') {
      safe += "&lt;";
    } else if (letter == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\|`*_[]#~>").find(letter) != std::string_view::npos) safe += '\\';
      safe += letter;
    }
  }
  return safe;
}

}  // namespace

std::string pipe_table(const Grid& grid) {
  std::string text = "## " + in_markdown(grid.title) + "\n\n|";
  for (const auto& column : grid.columns) text += " " + in_markdown(column.heading) + " |";
  text += "\n|";
  for (const auto& column : grid.columns) text += column.is_left() ? "---|" : "---:|";
  for (const auto& row : grid.rows) {
    text += "\n|";
    for (const auto& cell : row) {
      const auto shown = in_markdown(cell.text);
      text += " " + (cell.best ? "**" + shown + "**" : shown) + " |";
    }
  }
  text += "\n\n";
  return grid.note.empty() ? text : text + in_markdown(grid.note) + "\n\n";
}

std::string markdown_table(const analysis::Evidence& evidence) {
  auto text = "# " + in_markdown(evidence.study) + "\n\n";
  if (!evidence.question.empty()) text += in_markdown(evidence.question) + "\n\n";
  std::istringstream answer(evidence.answer);
  for (std::string line; std::getline(answer, line);) text += in_markdown(line) + "\n\n";
  if (!evidence.standing.empty()) text += in_markdown(evidence.standing) + "\n\n";
  for (const auto& grid : grids_of(evidence)) text += pipe_table(grid);
  for (const auto& remark : remarks_of(evidence)) text += "- " + in_markdown(remark) + "\n";
  return text;
}

}  // namespace ablate::report
