#include "experiments/report/table/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

#include "experiments/config/schema/option.h"
#include "experiments/config/yaml/problem.h"
#include "experiments/records/folders.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

/// Names stand at the left of their columns, figures at the right.
bool is_left(const GridColumn& column) {
  return column.holds == Holds::arms || column.holds == Holds::names;
}

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

std::string layout(const Grid& grid) {
  const auto lines = texts_of(grid);
  std::vector<size_t> widths(grid.columns.size());
  for (const auto& line : lines)
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  size_t total = 0;
  for (const size_t one : widths) total += one + 2;
  std::string text = grid.title.empty() ? "" : config::printable_line(grid.title) + "\n";
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string row;
    for (size_t i = 0; i < lines[l].size(); ++i) {
      const std::string pad(widths[i] - width(lines[l][i]), ' ');
      row += "  " + (is_left(grid.columns[i]) ? lines[l][i] + pad : pad + lines[l][i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
    if (l == 0) text += "  " + std::string(total - 2, '-') + "\n";
  }
  if (!grid.note.empty()) text += config::printable_line(grid.note) + "\n";
  return text;
}

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

std::string pipe_table(const Grid& grid) {
  std::string text = "## " + in_markdown(grid.title) + "\n\n|";
  for (const auto& column : grid.columns) text += " " + in_markdown(column.heading) + " |";
  text += "\n|";
  for (const auto& column : grid.columns) text += is_left(column) ? "---|" : "---:|";
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
  std::istringstream answer(evidence.answer);
  for (std::string line; std::getline(answer, line);) text += in_markdown(line) + "\n\n";
  if (!evidence.standing.empty()) text += in_markdown(evidence.standing) + "\n\n";
  for (const auto& grid : grids_of(evidence)) text += pipe_table(grid);
  for (const auto& remark : remarks_of(evidence)) text += "- " + in_markdown(remark) + "\n";
  return text;
}

namespace {

/// The lines of a text, broken at words so that they fit the screen where words do; all but the
/// first of each begin with `indent`.
std::string wrapped(const std::string& text, const std::string& indent = "") {
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

namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

std::string field(double number) { return std::isnan(number) ? "" : fmt::format("{}", number); }

std::string ends(const std::optional<statistics::Interval>& interval) {
  return interval ? fmt::format("{},{}", field(interval->low), field(interval->high)) : ",";
}

constexpr size_t kContrastFields = 13;

std::string contrast_fields(const std::optional<analysis::Contrast>& contrast) {
  if (!contrast) return std::string(kContrastFields - 1, ',');
  const auto& claim = contrast->claim;
  const auto text = fmt::format(
      "{},{},{},{},{},{},{},{},{},{}", field(contrast->mean), ends(contrast->interval),
      field(contrast->difference.p), field(contrast->difference.adjusted_p),
      field(contrast->within.p), field(contrast->within.adjusted_p),
      field(contrast->detectable.value_or(analysis::kUntested)), field(contrast->improvement),
      config::word_of(contrast->verdict), claim.kind ? config::word_of(*claim.kind) : "");
  return fmt::format("{},{},{}", text, field(claim.margin.value_or(analysis::kUntested)),
                     contrast->outcome ? config::word_of(*contrast->outcome) : "");
}

std::string line(const std::string& task, const analysis::ArmEvidence& arm,
                 const analysis::Cell& cell) {
  auto text = fmt::format("{},{},{},{},{},{},{},{},", field(task), field(arm.name), arm.baseline,
                          field(cell.test_set), cell.extrapolates, cell.metric,
                          config::word_of(cell.direction), cell.primary);
  text += fmt::format("{},{},{},{},{},{}", cell.sample.count, field(cell.sample.mean),
                      field(cell.sample.deviation), ends(cell.sample.interval), cell.best,
                      contrast_fields(cell.contrast));
  text += fmt::format(",{}", std::ranges::count(cell.sample.censored, true));
  for (const double value : cell.sample.values) text += "," + field(value);
  return text + "\n";
}

}  // namespace

std::string csv_table(const analysis::Evidence& evidence) {
  std::string text =
      "task,arm,baseline,test_set,extrapolates,metric,direction,primary,n,mean,deviation,low,high,"
      "best,difference,difference_low,difference_high,p,adjusted_p,within_p,within_adjusted_p,"
      "detectable,improvement,verdict,claim,margin,outcome,censored";
  for (const int64_t seed : evidence.seeds) text += fmt::format(",seed_{}", seed);
  text += "\n";
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) text += line(task.name, arm, cell);
  return text;
}

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
                                                      {'"', "\\textquotedbl{}"},
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

std::string tabular(const Grid& grid) {
  auto text = "% " + in_latex(grid.title) + "\n\\begin{tabular}{";
  for (const auto& column : grid.columns) text += is_left(column) ? 'l' : 'r';
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

}  // namespace

std::string latex_table(const analysis::Evidence& evidence) {
  std::string text;
  for (const auto& grid : grids_of(evidence)) text += tabular(grid);
  return text;
}

}  // namespace ablate::report
