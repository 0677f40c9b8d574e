#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/report/number.h"
#include "experiments/report/page/sections.h"

namespace ablate::report {

Markup tuning(const analysis::Evidence& evidence, const Looks& looks) {
  if (!evidence.tuning || evidence.tuning->tried.empty()) return {};
  const auto& tuning = *evidence.tuning;
  Markup rows;
  for (const auto& one : tuning.tried)
    rows += row(cell(one.task) + row_heading(looks.named(one.arm)) + cell(one.value) +
                number_cell(std::isnan(one.score) ? "diverged" : score(one.score, tuning.metric),
                            one.chosen) +
                cell(one.chosen ? "chosen" : ""));
  const auto head = column_heading("task") + column_heading("arm") + column_heading("value") +
                    number_heading(analysis::spoken(tuning.metric)) + column_heading("");
  return element(
      "section", {{"id", "tuning"}},
      heading("h2", "", "Tuning") +
          paragraph("",
                    fmt::format("The values of {} that were tried for each arm, by {}: the mean "
                                "over {} {}. Test sets play no part.",
                                tuning.key, analysis::spoken(tuning.metric),
                                tuning.seeds.size() == 1 ? "seed" : "seeds",
                                fmt::join(tuning.seeds, ", "))) +
          scrolled("Tuning", table(row(head), rows)));
}

}  // namespace ablate::report
