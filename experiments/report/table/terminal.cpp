#include <algorithm>

#include "experiments/config/printable.h"
#include "experiments/report/table/grid.h"
#include "experiments/report/table/layout.h"
#include "experiments/report/table/table.h"

namespace ablate::report {
std::string terminal_table(const analysis::Evidence& evidence) {
  std::string text;
  if (!evidence.question.empty()) text += config::printable_line(evidence.question) + "\n";
  text += config::printable_line(evidence.answer) + "\n\n";
  bool marked = false;
  for (const auto& grid : grids_of(evidence)) {
    text += layout(grid) + "\n";
    for (const auto& row : grid.rows)
      marked = marked || std::ranges::any_of(row, [](const GridCell& cell) { return cell.best; });
  }
  if (marked) text += "* the best mean on its test set\n";
  for (const auto& remark : remarks_of(evidence)) text += config::printable_line(remark) + "\n";
  return text;
}

}  // namespace ablate::report
