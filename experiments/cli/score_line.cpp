#include "experiments/cli/score_line.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::cli {

std::string score_line(const records::TestScores& scores) {
  std::string text;
  for (const auto& metric : config::metrics_on(scores.compared))
    if (const double value = records::value_of(scores, metric);
        metric.in_tables && !std::isnan(value))
      text +=
          fmt::format("{}{} {:.{}f}", text.empty() ? "" : ", ", metric.label, value, metric.digits);
  return fmt::format("{}{}: {} ({} examples)", scores.name, scores.beyond ? " (beyond)" : "", text,
                     scores.examples);
}

}  // namespace ablate::cli
