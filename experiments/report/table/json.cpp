#include <nlohmann/json.hpp>

#include "experiments/config/schema/option.h"
#include "experiments/report/table/layout.h"
#include "training/storage/finite_json.h"

namespace ablate::report {
namespace {

using Json = nlohmann::json;

Json json_of(const statistics::Interval& interval) { return {interval.low, interval.high}; }

Json json_of(const analysis::Sample& sample) {
  Json json{{"values", sample.values},
            {"count", sample.count},
            {"mean", sample.mean},
            {"deviation", sample.deviation}};
  if (sample.interval) json["interval"] = json_of(*sample.interval);
  if (!sample.censored.empty()) json["censored"] = sample.censored;
  return json;
}

Json json_of(const analysis::Contrast& contrast) {
  Json json{{"differences", contrast.differences},
            {"mean", contrast.mean},
            {"p", contrast.difference.p},
            {"holm_p", contrast.difference.holm_p},
            {"equivalence_p", contrast.equivalence.p},
            {"equivalence_holm_p", contrast.equivalence.holm_p},
            {"improvement", contrast.improvement},
            {"verdict", config::word_of(contrast.verdict)},
            {"sentence", contrast.sentence}};
  if (contrast.interval) json["interval"] = json_of(*contrast.interval);
  return json;
}

Json json_of(const analysis::Cell& cell) {
  Json json{{"test_set", cell.test_set},     {"extrapolates", cell.extrapolates},
            {"metric", cell.metric},         {"direction", config::word_of(cell.direction)},
            {"primary", cell.primary},       {"best", cell.best},
            {"sample", json_of(cell.sample)}};
  if (cell.contrast) json["contrast"] = json_of(*cell.contrast);
  if (cell.success)
    json["success"] = {{"solved", cell.success->solved},
                       {"runs", cell.success->runs},
                       {"interval", json_of(cell.success->interval)}};
  for (const auto& test : cell.sentence_tests)
    json["sentence_tests"].push_back({{"seed", test.seed},
                                      {"difference", test.difference},
                                      {"bootstrap_p", test.bootstrap_p},
                                      {"randomisation_p", test.randomisation_p}});
  return json;
}

Json json_of(const analysis::ArmEvidence& arm) {
  auto changes = Json::array(), cells = Json::array();
  for (const auto& change : arm.changes)
    changes.push_back(
        {{"path", change.path}, {"baseline", change.baseline}, {"value", change.value}});
  for (const auto& cell : arm.cells) cells.push_back(json_of(cell));
  return {{"name", arm.name},
          {"baseline", arm.baseline},
          {"tuned", arm.tuned},
          {"changes", std::move(changes)},
          {"parameters", arm.parameters},
          {"active_parameters", arm.active_parameters},
          {"flops_per_token", arm.flops_per_token},
          {"tokens_per_second", json_of(arm.tokens_per_second)},
          {"training_seconds", json_of(arm.training_seconds)},
          {"memory_bytes", json_of(arm.memory_bytes)},
          {"cells", std::move(cells)}};
}

Json json_of(const analysis::SizeFit& fit) {
  return {{"test_set", fit.test_set},       {"metric", fit.metric},
          {"factor", fit.law.factor},       {"exponent", fit.law.exponent},
          {"r_squared", fit.law.r_squared}, {"exponents", json_of(fit.exponents)}};
}

template <class T, class Of>
Json list_of(const std::vector<T>& values, Of of) {
  auto list = Json::array();
  for (const auto& value : values) list.push_back(of(value));
  return list;
}

Json json_of(const analysis::TaskEvidence& task) {
  Json json{
      {"name", task.name},
      {"metric", task.metric},
      {"comparisons", task.comparisons},
      {"family", task.family},
      {"arms", list_of(task.arms, [](const analysis::ArmEvidence& arm) { return json_of(arm); })}};
  if (task.margin) json["margin"] = *task.margin;
  if (!task.fits.empty())
    json["fits"] = list_of(task.fits, [](const analysis::SizeFit& fit) { return json_of(fit); });
  return json;
}

Json json_of(const analysis::TuningEvidence& tuning) {
  auto tried = list_of(tuning.tried, [](const analysis::TriedValue& one) {
    return Json{{"task", one.task},
                {"arm", one.arm},
                {"value", one.value},
                {"score", one.score},
                {"chosen", one.chosen}};
  });
  return {{"key", tuning.key},
          {"metric", tuning.metric},
          {"seeds", tuning.seeds},
          {"tried", std::move(tried)}};
}

Json json_of(const analysis::Aggregate& aggregate) {
  Json json{{"arm", aggregate.arm},
            {"interquartile_mean", aggregate.interquartile_mean},
            {"interval", json_of(aggregate.interval)}};
  if (aggregate.improvement) json["improvement"] = *aggregate.improvement;
  return json;
}

}  // namespace

std::string json_table(const analysis::Evidence& evidence) {
  Json json{
      {"study", evidence.study},
      {"question", evidence.question},
      {"answer", evidence.answer},
      {"metric", evidence.metric},
      {"seeds", evidence.seeds},
      {"tasks", list_of(evidence.tasks, [](const auto& task) { return json_of(task); })},
      {"aggregates", list_of(evidence.aggregates, [](const auto& one) { return json_of(one); })},
      {"expectations",
       list_of(evidence.expectations,
               [](const auto& one) -> Json {
                 return {{"text", one.text}, {"holds", one.holds}, {"numbers", one.numbers}};
               })},
      {"missing", list_of(evidence.missing,
                          [](const auto& run) -> Json {
                            return {{"task", run.task},
                                    {"arm", run.arm},
                                    {"seed", run.seed},
                                    {"reason", run.reason}};
                          })},
      {"notes", evidence.notes}};
  if (evidence.baseline) json["baseline"] = *evidence.baseline;
  if (evidence.tuning) json["tuning"] = json_of(*evidence.tuning);
  return training::without_non_finite(std::move(json))
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace ablate::report
