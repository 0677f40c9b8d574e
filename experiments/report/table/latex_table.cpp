#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "experiments/report/table/layout.h"

namespace ablate::report {
namespace {

/// Whether the hyphen at `at` is a minus sign, as before a number that follows a space.
bool is_minus(const std::string& text, size_t at) {
  const auto is_one_of = [&](size_t place, std::string_view letters) {
    return place < text.size() && letters.find(text[place]) != std::string_view::npos;
  };
  return is_one_of(at + 1, "0123456789i") && (at == 0 || is_one_of(at - 1, " [("));
}

/// A "[" after a row's end would open an optional argument.
constexpr auto kLatexSigns =
    std::to_array<std::pair<char, std::string_view>>({{'\\', "\\textbackslash{}"},
                                                      {'~', "\\textasciitilde{}"},
                                                      {'^', "\\textasciicircum{}"},
                                                      {'<', "\\textless{}"},
                                                      {'>', "\\textgreater{}"},
                                                      {'|', "\\textbar{}"},
                                                      {'"', "''"},
                                                      {'[', "{[}"}});

std::string in_latex(const std::string& text) {
  std::string safe;
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    const auto sign =
        std::ranges::find(kLatexSigns, letter, &std::pair<char, std::string_view>::first);
    if (sign != kLatexSigns.end())
      safe += sign->second;
    else if (letter == '-' && is_minus(text, at))
      safe += "$-$";
    else if (std::string_view("&%$#_{}").find(letter) != std::string_view::npos)
      safe += {'\\', letter};
    else
      safe += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  const std::string sign = "±";
  for (size_t at = 0; (at = safe.find(sign, at)) != std::string::npos; at += 5)
    safe.replace(at, sign.size(), "$\\pm$");
  return safe;
}

}  // namespace

std::string tabular(const Grid& grid) {
  auto text = "% " + in_latex(grid.title) + "\n\\begin{tabular}{";
  for (const auto& column : grid.columns) text += column.is_left() ? 'l' : 'r';
  text += "}\n\\toprule\n";
  const auto row_text = [](const auto& cells, const auto& shown) {
    std::string row;
    for (const auto& cell : cells) row += (&cell == &cells.front() ? "" : " & ") + shown(cell);
    return row + " \\\\\n";
  };
  text +=
      row_text(grid.columns, [](const GridColumn& column) { return in_latex(column.heading); }) +
      "\\midrule\n";
  for (const auto& row : grid.rows)
    text += row_text(row, [](const GridCell& cell) {
      const auto shown = in_latex(cell.text);
      return cell.best ? "\\textbf{" + shown + "}" : shown;
    });
  text += "\\bottomrule\n\\end{tabular}\n";
  return (grid.note.empty() ? text : text + "% " + in_latex(grid.note) + "\n") + "\n";
}

std::string latex_table(const analysis::Evidence& evidence) {
  std::string text;
  for (const auto& grid : grids_of(evidence)) text += tabular(grid);
  return text;
}

}  // namespace ablate::report
