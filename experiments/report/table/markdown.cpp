#include <string_view>

#include "experiments/report/table/grid.h"
#include "experiments/report/table/table.h"

namespace ablate::report {
namespace {

/// Text that Markdown shows as it stands, in one line and in one cell.
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

std::string pipe_table(const Grid& grid) {
  std::string text = "## " + in_markdown(grid.title) + "\n\n|";
  for (const auto& heading : grid.headings) text += " " + in_markdown(heading) + " |";
  text += "\n|";
  for (size_t i = 0; i < grid.headings.size(); ++i) text += i < grid.names ? "---|" : "---:|";
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

}  // namespace

std::string markdown_table(const analysis::Evidence& evidence) {
  auto text = "# " + in_markdown(evidence.study) + "\n\n";
  if (!evidence.question.empty()) text += in_markdown(evidence.question) + "\n\n";
  text += in_markdown(evidence.answer) + "\n\n";
  for (const auto& grid : grids_of(evidence)) text += pipe_table(grid);
  for (const auto& remark : remarks_of(evidence)) text += "- " + in_markdown(remark) + "\n";
  return text;
}

}  // namespace ablate::report
