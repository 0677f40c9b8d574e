#include <string_view>

#include "experiments/report/table/grid.h"
#include "experiments/report/table/table.h"

namespace ablate::report {
namespace {

/// Whether the hyphen there stands for a minus, as before a number that nothing else is joined to.
bool is_minus(const std::string& text, size_t at) {
  const auto is_one_of = [&](size_t place, std::string_view letters) {
    return place < text.size() && letters.find(text[place]) != std::string_view::npos;
  };
  return is_one_of(at + 1, "0123456789i") && (at == 0 || is_one_of(at - 1, " [("));
}

std::string in_latex(const std::string& text) {
  std::string safe;
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    switch (letter) {
      case '-':
        safe += is_minus(text, at) ? "$-$" : "-";
        break;
      case '\\':
        safe += "\\textbackslash{}";
        break;
      case '~':
        safe += "\\textasciitilde{}";
        break;
      case '^':
        safe += "\\textasciicircum{}";
        break;
      case '<':
        safe += "\\textless{}";
        break;
      case '>':
        safe += "\\textgreater{}";
        break;
      case '|':
        safe += "\\textbar{}";
        break;
      case '"':
        safe += "\\textquotedbl{}";
        break;
      case '[':  // after a row's end it would open an optional argument
        safe += "{[}";
        break;
      default:
        if (std::string_view("&%$#_{}").find(letter) != std::string_view::npos) safe += '\\';
        safe += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  const std::string sign = "±";
  for (size_t at = 0; (at = safe.find(sign, at)) != std::string::npos; at += 5)
    safe.replace(at, sign.size(), "$\\pm$");
  return safe;
}

std::string tabular(const Grid& grid) {
  auto text = "% " + in_latex(grid.title) + "\n\\begin{tabular}{" + std::string(grid.names, 'l') +
              std::string(grid.headings.size() - grid.names, 'r') + "}\n\\toprule\n";
  const auto row_text = [](const auto& cells, const auto& shown) {
    std::string row;
    for (const auto& cell : cells) row += (&cell == &cells.front() ? "" : " & ") + shown(cell);
    return row + " \\\\\n";
  };
  text += row_text(grid.headings, in_latex) + "\\midrule\n";
  for (const auto& row : grid.rows)
    text += row_text(row, [](const GridCell& cell) {
      const auto shown = in_latex(cell.text);
      return cell.best ? "\\textbf{" + shown + "}" : shown;
    });
  text += "\\bottomrule\n\\end{tabular}\n";
  return (grid.note.empty() ? text : text + "% " + in_latex(grid.note) + "\n") + "\n";
}

}  // namespace

std::string latex_table(const analysis::Evidence& evidence) {
  std::string text;
  for (const auto& grid : grids_of(evidence)) text += tabular(grid);
  return text;
}

}  // namespace ablate::report
