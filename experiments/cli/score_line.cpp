#include "experiments/cli/score_line.h"

#include <fmt/format.h>

#include <cmath>

namespace ablate::cli {

std::string unknown_text(double share) {
  return share > 0 ? fmt::format("{:.2g} % of the target tokens unknown", 100 * share) : "";
}

std::string score_line(const records::TestScores& scores) {
  std::string text;
  for (const auto& metric : config::metrics_on(scores.compared))
    if (const double value = records::value_of(scores, metric);
        metric.in_tables && !std::isnan(value))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", metric.label,
                          config::number_text(value, metric.digits));
  std::string facts = fmt::format("{} examples", scores.examples);
  if (const auto unknown = unknown_text(scores.unknown_targets); !unknown.empty())
    facts += ", " + unknown;
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) facts += fmt::format(", {} {}", count, what);
  };
  add(scores.cut_outputs, "outputs cut at the greatest length");
  add(scores.altered_references, "references that the tokenizer alters");
  add(scores.unwritable_references, "that it cannot write");
  return fmt::format("{}{}: {} ({})", scores.name, scores.beyond ? " (beyond)" : "", text, facts);
}

}  // namespace ablate::cli
