#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include "experiments/config/schema/option.h"
#include "experiments/report/table/layout.h"
#include "experiments/report/table/together.h"
#include "options/members.h"
#include "training/storage/finite_json.h"

namespace ablate::report {
namespace {

using Json = nlohmann::json;

// What is recorded of each struct of the evidence, called as in code. Absent optional members are
// left out.

#define ABLATE_MEMBERS(...) ABLATE_EXPAND(ABLATE_VISIT(__VA_ARGS__))
#define ABLATE_RECORDED(Struct, ...) \
  void members_of(const Struct& o, auto&& visit) { ABLATE_MEMBERS(__VA_ARGS__) }

ABLATE_RECORDED(analysis::Sample, values, count, mean, deviation, interval, censored, at_once,
                collapsed)
ABLATE_RECORDED(analysis::Test, p, adjusted_p)
ABLATE_RECORDED(analysis::RelativeDifference, mean, interval)
ABLATE_RECORDED(statistics::ForecastScore, inside, interval_score, brier)
ABLATE_RECORDED(analysis::SuccessRate, solved, runs, interval)
ABLATE_RECORDED(analysis::SentenceTest, seed, difference, bootstrap_p, randomisation_p)
ABLATE_RECORDED(analysis::Cell, test_set, extrapolates, over, metric, direction, primary, best,
                sample, contrast, success, sentence_tests)
ABLATE_RECORDED(analysis::CostRatio, resource, values, bounds, mean, interval)
ABLATE_RECORDED(analysis::ChangedKey, path, baseline, value)
ABLATE_RECORDED(config::RegimeOptions, parameters, depth, width, length, tokens_per_parameter,
                epochs)
ABLATE_RECORDED(analysis::ArmEvidence, name, baseline, control, changes, parameters,
                active_parameters, trained_parameters, table_parameters, flops_per_token, regime,
                steps, tokens, training_flops, training_seconds, tokens_per_second, memory_bytes,
                cells, cost_ratios)
ABLATE_RECORDED(config::GridPoint, key, value)
ABLATE_RECORDED(config::Setting, task, size, grid)
ABLATE_RECORDED(analysis::SeedComponents, arm, test_set, metric, difference, initializations,
                orders, initialization, order, rest, error, own_error, best_initializations,
                best_orders, best_error, sentence)
ABLATE_RECORDED(analysis::TaskEvidence, name, setting, metric, target, margin, arms, comparisons,
                correction, family, fits, components, parts)
ABLATE_RECORDED(analysis::Rung, setting, label, x)
ABLATE_RECORDED(analysis::Ladder, task, axis, at, test_set, metric, direction, logarithmic, rungs,
                arms)
ABLATE_RECORDED(analysis::Aggregate, arm, interquartile_mean, interval, improvement, tasks,
                settings)
ABLATE_RECORDED(analysis::TunedCurve, vertex, value, score, weights, misfit)
ABLATE_RECORDED(analysis::TunedGain, at_best, at_equal)
ABLATE_RECORDED(analysis::Expectation, text, holds, numbers)
ABLATE_RECORDED(records::MissingRun, task, arm, seed, reason)
ABLATE_RECORDED(records::Provenance, commits, hardware, core_seconds, study_sha256, data_sha256)
ABLATE_RECORDED(analysis::Evidence, study, question, confirmatory, standing, answer, baseline,
                metric, seeds, tasks, ladders, aggregates, tuning, expectations, missing, notes,
                provenance)

ABLATE_RECORDED(statistics::PooledEffect, mean, confidence, prediction)
ABLATE_RECORDED(analysis::SettingEffect, study, setting, parameters, tokens_per_parameter,
                differences)
ABLATE_RECORDED(analysis::SizeVerdict, parameters, effect, verdict)
ABLATE_RECORDED(analysis::PooledArm, arm, metric, direction, margin, settings, left_out, studies,
                slope, tau, sizes, no_verdict)
ABLATE_RECORDED(analysis::PooledClaim, study, setting, arm, test_set, claim, outcome, p, q)
ABLATE_RECORDED(analysis::FalseAlarms, controls, alarms, interval)
ABLATE_RECORDED(analysis::Together, arms, sizes, confidence, claims, false_alarms)

void members_of(const analysis::Contrast& o, auto&& visit) {
  ABLATE_MEMBERS(differences, mean, interval, relative, difference, within, within_interval, beyond,
                 sign, detectable, improvement, verdict, outcome, outside, forecast, sentence)
  visit("claim", o.claim.kind);
  visit("says", o.claim.says);
  visit("source", o.claim.source);
  visit("margin", o.claim.margin);
  visit("published", o.claim.published);
}

void members_of(const analysis::SizeFit& o, auto&& visit) {
  ABLATE_MEMBERS(test_set, metric, exponents)
  visit("factor", o.law.factor);
  visit("exponent", o.law.exponent);
  visit("r_squared", o.law.r_squared);
}

void members_of(const analysis::LadderArm& o, auto&& visit) {
  ABLATE_MEMBERS(name, baseline, scores, effects, p, compute, time, no_claim, slope, slope_p,
                 interaction_p, turns, crossing, best, best_at, best_effect, fit, sentence)
  visit("best_p", o.best_effect ? std::optional(o.best_p) : std::nullopt);
}

#undef ABLATE_RECORDED
#undef ABLATE_MEMBERS

/// Lists and texts that are left out if they are empty.
constexpr auto kUnlessEmpty = std::to_array<std::string_view>(
    {"censored", "at_once", "collapsed", "sentence_tests", "cost_ratios", "fits", "components",
     "parts", "target", "no_claim", "best_at", "compute", "time", "no_verdict", "slope", "outside",
     "says", "source", "left_out"});

template <class Member>
bool is_left_out(std::string_view name, const Member& member) {
  if constexpr (requires { member.has_value(); })
    return !member.has_value();
  else if constexpr (requires { member.empty(); })
    return member.empty() && std::ranges::find(kUnlessEmpty, name) != kUnlessEmpty.end();
  else
    return false;
}

Json json_of(const analysis::TuningEvidence& tuning);

template <class Value>
Json json_of(const Value& value) {
  if constexpr (std::is_same_v<Value, statistics::Interval>) {
    return {value.low, value.high};
  } else if constexpr (std::is_enum_v<Value>) {
    return config::word_of(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? json_of(*value) : Json();
  } else if constexpr (requires { members_of(value, [](const char*, const auto&) {}); }) {
    auto json = Json::object();
    members_of(value, [&](const char* name, const auto& member) {
      if (!is_left_out(name, member)) json[name] = json_of(member);
    });
    return json;
  } else if constexpr (std::ranges::range<Value> && !std::is_same_v<Value, std::string>) {
    auto list = Json::array();
    for (const auto& one : value) list.push_back(json_of(one));
    return list;
  } else {
    return value;
  }
}

/// The values of a combination, by key.
Json json_of(const config::TriedCombination& tried, const std::vector<config::TunedKey>& keys) {
  Json json;
  for (size_t key = 0; key < keys.size(); ++key) json[keys[key].path] = tried.values[key];
  return json;
}

Json json_of(const config::ArmSearch& search, const config::ChosenCombination& chosen,
             const std::vector<config::TunedKey>& keys) {
  Json json{{"chosen", chosen.tried ? json_of(search.tried[*chosen.tried], keys) : Json()},
            {"at_edge", Json::object()}};
  for (const auto& [key, end] : chosen.at_edge) json["at_edge"][key] = config::word_of(end);
  return json;
}

/// `chosen` and `at_edge` stand in `seeds`, one for each, if these have searches of their own.
Json json_of(const analysis::TunedArm& arm, const analysis::TuningEvidence& tuning) {
  const auto& search = arm.search;
  Json json{{"task", search.task}, {"arm", search.arm}, {"open_runs", search.open}};
  if (tuning.by != config::TunedBy::seed)
    json.update(json_of(search, search.chosen.front(), tuning.keys));
  else
    for (const auto& chosen : search.chosen)
      json["seeds"].push_back(json_of(search, chosen, tuning.keys));
  json["sensitivity"] = arm.sensitivity;
  if (arm.curve) json["curve"] = json_of(*arm.curve);
  if (arm.gain) json["gain"] = json_of(*arm.gain);
  json["tried"] = Json::array();
  for (const auto& tried : search.tried)
    json["tried"].push_back({{"values", json_of(tried, tuning.keys)},
                             {"mean", config::mean_score(tried)},
                             {"scores", json_of(tried.scores)},
                             {"declared", tried.declared}});
  return json;
}

Json json_of(const analysis::TuningEvidence& tuning) {
  auto keys = Json::array(), arms = Json::array();
  for (const auto& key : tuning.keys) keys.push_back(key.path);
  for (const auto& arm : tuning.arms) arms.push_back(json_of(arm, tuning));
  return {{"keys", keys},
          {"metric", tuning.metric},
          {"by", config::word_of(tuning.by)},
          {"seeds", tuning.seeds},
          {"arms", arms}};
}

}  // namespace

std::string json_table(const analysis::Evidence& evidence) {
  return training::json_file(training::without_non_finite(json_of(evidence)));
}

std::string together_json(const analysis::Together& together) {
  return training::json_file(training::without_non_finite(json_of(together)));
}

}  // namespace ablate::report
