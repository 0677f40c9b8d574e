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
  if (!sample.collapsed.empty()) json["collapsed"] = sample.collapsed;
  return json;
}

Json json_of(const analysis::Test& test) {
  return {{"p", test.p}, {"adjusted_p", test.adjusted_p}};
}

Json json_of(const analysis::Contrast& contrast) {
  Json json{{"differences", contrast.differences},          {"mean", contrast.mean},
            {"difference", json_of(contrast.difference)},   {"within", json_of(contrast.within)},
            {"beyond", json_of(contrast.beyond)},           {"improvement", contrast.improvement},
            {"verdict", config::word_of(contrast.verdict)}, {"sentence", contrast.sentence}};
  if (contrast.interval) json["interval"] = json_of(*contrast.interval);
  if (contrast.relative) {
    json["relative"]["mean"] = contrast.relative->mean;
    if (contrast.relative->interval)
      json["relative"]["interval"] = json_of(*contrast.relative->interval);
  }
  if (contrast.claim.kind) json["claim"] = config::word_of(*contrast.claim.kind);
  if (contrast.claim.margin) json["margin"] = *contrast.claim.margin;
  if (contrast.outcome) json["outcome"] = config::word_of(*contrast.outcome);
  if (contrast.detectable) json["detectable"] = *contrast.detectable;
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

Json json_of(const analysis::CostRatio& ratio) {
  auto bounds = Json::array();
  for (const auto bound : ratio.bounds) bounds.push_back(config::word_of(bound));
  Json json{{"resource", config::word_of(ratio.resource)},
            {"values", ratio.values},
            {"bounds", std::move(bounds)},
            {"mean", ratio.mean}};
  if (ratio.interval) json["interval"] = json_of(*ratio.interval);
  return json;
}

Json json_of(const analysis::ArmEvidence& arm) {
  auto changes = Json::array(), cells = Json::array();
  for (const auto& change : arm.changes)
    changes.push_back(
        {{"path", change.path}, {"baseline", change.baseline}, {"value", change.value}});
  for (const auto& cell : arm.cells) cells.push_back(json_of(cell));
  Json json{{"name", arm.name},
            {"baseline", arm.baseline},
            {"changes", std::move(changes)},
            {"parameters", arm.parameters},
            {"active_parameters", arm.active_parameters},
            {"trained_parameters", arm.trained_parameters},
            {"flops_per_token", arm.flops_per_token},
            {"steps", json_of(arm.steps)},
            {"tokens", json_of(arm.tokens)},
            {"training_flops", json_of(arm.training_flops)},
            {"training_seconds", json_of(arm.training_seconds)},
            {"tokens_per_second", json_of(arm.tokens_per_second)},
            {"memory_bytes", json_of(arm.memory_bytes)},
            {"cells", std::move(cells)}};
  for (const auto& ratio : arm.cost_ratios) json["cost_ratios"].push_back(json_of(ratio));
  return json;
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

Json json_of(const config::Setting& setting) {
  return {{"task", setting.task},
          {"size", setting.size},
          {"grid", list_of(setting.grid, [](const config::GridPoint& point) {
             return Json{{"key", point.key}, {"value", point.value}};
           })}};
}

Json json_of(const analysis::LadderArm& arm) {
  const auto sample = [](const analysis::Sample& one) { return json_of(one); };
  Json json{{"name", arm.name},
            {"baseline", arm.baseline},
            {"scores", list_of(arm.scores, sample)},
            {"effects", list_of(arm.effects, sample)},
            {"p", arm.p},
            {"slope", json_of(arm.slope)},
            {"slope_p", arm.slope_p},
            {"interaction_p", arm.interaction_p},
            {"turns", arm.turns},
            {"sentence", arm.sentence}};
  if (!arm.no_claim.empty()) json["no_claim"] = arm.no_claim;
  if (arm.crossing) json["crossing"] = *arm.crossing;
  if (arm.fit) json["fit"] = json_of(*arm.fit);
  if (arm.best) json["best"] = json_of(*arm.best);
  if (arm.best) json["best_at"] = arm.best_at;
  if (arm.best_effect) json["best_effect"] = json_of(*arm.best_effect);
  if (arm.best_effect) json["best_p"] = arm.best_p;
  return json;
}

Json json_of(const analysis::Ladder& ladder) {
  return {
      {"task", ladder.task},
      {"axis", ladder.axis},
      {"at", ladder.at},
      {"test_set", ladder.test_set},
      {"metric", ladder.metric},
      {"direction", config::word_of(ladder.direction)},
      {"logarithmic", ladder.logarithmic},
      {"rungs",
       list_of(ladder.rungs,
               [](const analysis::Rung& rung) {
                 return Json{{"setting", rung.setting}, {"label", rung.label}, {"x", rung.x}};
               })},
      {"arms", list_of(ladder.arms, [](const analysis::LadderArm& arm) { return json_of(arm); })}};
}

Json json_of(const analysis::TaskEvidence& task) {
  Json json{
      {"name", task.name},
      {"setting", json_of(task.setting)},
      {"metric", task.metric},
      {"comparisons", task.comparisons},
      {"correction", config::word_of(task.correction)},
      {"family", task.family},
      {"arms", list_of(task.arms, [](const analysis::ArmEvidence& arm) { return json_of(arm); })}};
  if (!task.target.empty()) json["target"] = task.target;
  if (task.margin) json["margin"] = *task.margin;
  if (!task.fits.empty())
    json["fits"] = list_of(task.fits, [](const analysis::SizeFit& fit) { return json_of(fit); });
  return json;
}

/// The values of a combination, by key.
Json json_of(const config::TriedCombination& tried, const std::vector<config::TunedKey>& keys) {
  Json json;
  for (size_t key = 0; key < keys.size(); ++key) json[keys[key].path] = tried.values[key];
  return json;
}

Json json_of(const analysis::TunedArm& arm, const std::vector<config::TunedKey>& keys) {
  const auto& search = arm.search;
  Json json{{"task", search.task},
            {"arm", search.arm},
            {"open_runs", search.open},
            {"chosen", search.chosen ? json_of(search.tried[*search.chosen], keys) : Json()},
            {"at_edge", Json::object()},
            {"sensitivity", arm.sensitivity},
            {"tried", list_of(search.tried, [&](const config::TriedCombination& tried) {
               return Json{{"values", json_of(tried, keys)},
                           {"mean", config::mean_score(tried)},
                           {"scores", tried.scores},
                           {"declared", tried.declared}};
             })}};
  for (const auto& [key, end] : search.at_edge) json["at_edge"][key] = config::word_of(end);
  return json;
}

Json json_of(const analysis::TuningEvidence& tuning) {
  return {
      {"keys", list_of(tuning.keys, [](const auto& key) -> Json { return key.path; })},
      {"metric", tuning.metric},
      {"seeds", tuning.seeds},
      {"arms", list_of(tuning.arms, [&](const auto& arm) { return json_of(arm, tuning.keys); })}};
}

Json json_of(const analysis::Aggregate& aggregate) {
  Json json{{"arm", aggregate.arm},
            {"interquartile_mean", aggregate.interquartile_mean},
            {"interval", json_of(aggregate.interval)},
            {"tasks", aggregate.tasks},
            {"settings", aggregate.settings}};
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
      {"ladders", list_of(evidence.ladders, [](const auto& one) { return json_of(one); })},
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
