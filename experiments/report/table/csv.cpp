#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/config/option.h"
#include "experiments/report/table/table.h"

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

std::string contrast_fields(const std::optional<analysis::Contrast>& contrast) {
  if (!contrast) return ",,,,,,,,";
  const auto& difference = contrast->difference;
  return fmt::format("{},{},{},{},{},{},{},{}", field(contrast->mean), ends(contrast->interval),
                     field(difference.p), field(difference.holm_p), field(contrast->equivalence.p),
                     field(contrast->equivalence.holm_p), field(contrast->improvement),
                     config::word_of(contrast->verdict));
}

std::string line(const std::string& task, const analysis::ArmEvidence& arm,
                 const analysis::Cell& cell) {
  auto text = fmt::format("{},{},{},{},{},{},{},{},", field(task), field(arm.name), arm.baseline,
                          field(cell.test_set), cell.beyond, cell.metric,
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
      "task,arm,baseline,test_set,beyond,metric,direction,primary,n,mean,deviation,low,high,"
      "best,difference,difference_low,difference_high,p,holm_p,equivalence_p,"
      "equivalence_holm_p,improvement,verdict,censored";
  for (const int64_t seed : evidence.seeds) text += fmt::format(",seed_{}", seed);
  text += "\n";
  for (const auto& task : evidence.tasks)
    for (const auto& arm : task.arms)
      for (const auto& cell : arm.cells) text += line(task.name, arm, cell);
  return text;
}

}  // namespace ablate::report
