#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "experiments/analysis/evidence.h"
#include "experiments/report/page/page.h"
#include "experiments/report/report_data.h"

namespace ablate::report {

/// Gives the text for a place of the page that a user's words reach.
using Words = std::function<std::string(const std::string& usual)>;

inline std::string usual(const std::string& words) { return words; }

struct SampleReport {
  analysis::Evidence evidence;
  ReportData data;
};

inline analysis::Sample sample(std::vector<double> values) {
  analysis::Sample result{.values = values, .count = std::ssize(values)};
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  result.deviation = 0.01;
  result.interval = statistics::Interval{result.mean - 0.02, result.mean + 0.02};
  return result;
}

/// Trained are numbers of up to four digits.
inline analysis::Cell score(const std::string& test_set, int64_t digits,
                            std::vector<double> values) {
  return {.test_set = test_set,
          .length = digits,
          .unit = "digits",
          .extrapolates = digits > 4,
          .metric = "exact_match",
          .primary = true,
          .sample = sample(std::move(values))};
}

inline analysis::Contrast contrast(const std::string& sentence) {
  return {.differences = {-0.25, 0.125},
          .mean = -0.0625,
          .interval = statistics::Interval{-0.5, 0.375},
          .difference = {0.75, 1},
          .verdict = analysis::Verdict::inconclusive,
          .sentence = sentence};
}

/// `places` names the task, the arm and a test set.
inline RunRecord run_record(const std::array<std::string, 3>& places, int64_t seed,
                            const Words& words = usual) {
  RunRecord run{.task = places[0], .arm = places[1], .seed = seed};
  for (int step = 1; step <= 5; ++step) {
    const records::Spent spent{step * 10.0, step * 80.0, step * 2e6, step * 0.5};
    run.training.push_back({spent, 2.0 / step});
    run.validation.push_back({spent, 2.5 / step});
  }
  run.experts = {{.module = words("decoder.layers.0.feed_forward"),
                  .steps = {10, 20},
                  .shares = {{0.5, 0.5}, {0.75, 0.25}},
                  .entropy = {0.69, 0.56}}};
  run.observed = {{"attention_entropy",
                   words("decoder.layers.0.cross_attention"),
                   {{0, 1.5}, {10, 1.25}, {20, 1}},
                   {{{0, 1.4}, {10, 1}, {20, 0.5}}, {{0, 1.6}, {10, 1.5}, {20, 1.5}}}},
                  {"active_neurons", words("decoder.layers.0.feed_forward"), {{20, 0.125}}, {}},
                  {"gradient_noise", "model", {{10, 250}, {20, 300}}, {}},
                  {"gradient_square", "model", {{10, 2}, {20, 1}}, {}}};
  run.positions = {{places[2], {1, 0.875, 0.75}}};
  return run;
}

/// Three rates that were tried for the first arm, the best one at the edge, and none for the
/// second.
inline analysis::TuningEvidence tuning(const std::string& task, const std::string& first,
                                       const std::string& second, const Words& words) {
  std::vector<config::Value> values;
  for (const char* value : {"0.001", "0.004"})
    values.push_back({.type = config::Value::Type::scalar, .scalar = value});
  const auto key = words("training.schedule.peak");
  const config::ArmSearch search{
      .task = task,
      .arm = first,
      .tried = {{.values = {"0.001"}, .scores = {5, 6}},
                {.values = {"0.004"}, .scores = {4, 3}},
                {.values = {"0.016"}, .scores = {4, std::nan("")}, .declared = false}},
      .chosen = {{.tried = 1, .at_edge = {{key, config::End::largest}}}}};
  return {.keys = {{key, words("peak"), values}},
          .metric = "validation_perplexity",
          .seeds = {101, 102},
          .arms = {{.search = search, .sensitivity = 0.25},
                   {.search = {.task = task, .arm = second, .open = 3}}}};
}

/// A baseline and an arm of these names, with two seeds each.
inline std::vector<analysis::ArmEvidence> sample_arms(const Words& w, const std::string& within,
                                                      const std::string& first,
                                                      const std::string& second) {
  const auto beyond = "5 " + w("digits more");
  analysis::ArmEvidence one{
      .name = first, .baseline = true, .parameters = 1200, .flops_per_token = 2400};
  one.cells = {score(within, 4, {1, 0.75}), score(beyond, 5, {0.5, 0.25})};
  one.steps = sample({50, 50});
  one.tokens = sample({400, 400});
  one.training_flops = sample({2e7, 2e7});
  one.training_seconds = sample({2.5, 2.75});
  one.memory_bytes = sample({3e8, 3e8});
  analysis::ArmEvidence other = one;
  other.name = second;
  other.baseline = false;
  other.changes = {{w("key"), w("sinusoidal value"), w("learned value")}};
  other.cells = {score(within, 4, {0.75, 0.875}), score(beyond, 5, {0, 0.125})};
  other.cells[0].contrast = contrast(w("learned is not distinguishable."));
  other.cells[1].contrast = contrast(w("learned is worse."));
  other.cost_ratios = {{.resource = config::Resource::steps,
                        .values = {0.8, 0.9},
                        .bounds = {analysis::Bound::exact, analysis::Bound::exact},
                        .mean = 0.85,
                        .interval = statistics::Interval{0.75, 0.95}}};
  other.cells[0].sentence_tests = {{1, -0.5, 0.25, 0.125}};
  return {one, other};
}

/// A report with something in every section; `words` is asked for each text of a user.
inline SampleReport sample_report(const Words& words = usual) {
  const auto task = words("numbers"), first = words("sinusoidal"), second = words("learned");
  const auto within = "4 " + words("digits");
  auto& w = words;
  SampleReport report{
      .evidence = {.study = w("study"),
                   .question = w("Does it matter?"),
                   .answer = w("It does not."),
                   .baseline = first,
                   .metric = "exact_match",
                   .seeds = {1, 2},
                   .tasks = {{.name = task,
                              .metric = "exact_match",
                              .target = w("a loss of 1"),
                              .arms = sample_arms(w, within, first, second),
                              .comparisons = 2}},
                   .aggregates = {{second, 0.8, {0.7, 0.9}, 0.4}},
                   .tuning = tuning(task, first, second, words),
                   .expectations = {{w("learned > sinusoidal"), false, w("0.1 and 0.2")}},
                   .missing = {{w("other task"), w("other arm"), 3, w("failed: no memory")}},
                   .notes = {w("Two seeds are few.")}},
      .data = {.samples = {{task,
                            within,
                            1,
                            w("four hundred"),
                            w("vierhundert"),
                            {{first, w("vierhundert.")}, {second, w("vierzig")}}}},
               .positions = {{w("learned scheme"),
                              {w("an arm")},
                              w("2 positions"),
                              {{.title = w("Vectors"),
                                .x_label = w("dimension"),
                                .y_label = w("position"),
                                .rows = {{-1, 0}, {0.5, 1}}}},
                              {}}},
               .configurations = {{task, w("model:\n  layers: 2")}},
               .environment = {{w("libtorch"), {{w("2.13.0"), 2}, {w("2.11.0"), 1}}}},
               .command = w("ablate run study.yaml"),
               .commands = {{task, second, w("ablate run study.yaml --arms learned")}}}};
  for (const auto& arm : {first, second})
    for (const int64_t seed : {1, 2})
      report.data.runs.push_back(run_record({task, arm, within}, seed, w));
  return report;
}

inline std::string page_of(const SampleReport& report) {
  return report_page(report.evidence, report.data);
}

}  // namespace ablate::report
