#include "experiments/cli/score_line.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::cli {

std::string score_line(const records::TestScores& scores) {
  std::string text;
  for (const auto& metric : config::metrics_on(scores.compared))
    if (const double value = records::value_of(scores, metric);
        metric.in_tables && !std::isnan(value))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", metric.label,
                          config::number_text(value, metric.digits));
  std::string facts = fmt::format("{} examples", scores.examples);
  if (scores.unknown_targets > 0)
    facts += fmt::format(", {:.2g} % of the target tokens unknown", 100 * scores.unknown_targets);
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) facts += fmt::format(", {} {}", count, what);
  };
  add(scores.cut_outputs, "outputs cut at the greatest length");
  add(scores.altered_references, "references that the tokenizer alters");
  add(scores.unwritable_references, "that it cannot write");
  return fmt::format("{}{}: {} ({})", scores.name, scores.beyond ? " (beyond)" : "", text, facts);
}

}  // namespace ablate::cli
