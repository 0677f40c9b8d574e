#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/config/schema/option.h"
#include "experiments/report/table/layout.h"

namespace ablate::report {
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

}  // namespace ablate::report
