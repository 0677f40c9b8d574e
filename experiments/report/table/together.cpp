#include "experiments/report/table/together.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/analysis/figure.h"
#include "experiments/config/schema/metric.h"
#include "experiments/report/markup.h"

namespace ablate::report {
namespace {

using analysis::PooledArm;
using analysis::SizeVerdict;

/// "within 0.01", "better", "undecided"
std::string verdict_words(const PooledArm& arm, const SizeVerdict& size) {
  if (size.verdict == analysis::PooledVerdict::within_margin)
    return fmt::format("within {}", *arm.margin);
  return config::word_of(size.verdict);
}

const SizeVerdict* verdict_at(const PooledArm& arm, double parameters) {
  const auto found = std::ranges::find(arm.sizes, parameters, &SizeVerdict::parameters);
  return found == arm.sizes.end() ? nullptr : &*found;
}

std::string note_on(const analysis::Together& together) {
  const auto arms = together.arms.size();
  return fmt::format(
      "An effect is an arm's mean difference from its baseline over the seeds of one setting. tau "
      "is the deviation of true effects from setting to setting. At each number of parameters "
      "stand "
      "the mean over such settings with its interval, and the interval of the true effect in a "
      "further one, which decides; both are {:.4g} % intervals, so that {} 95 %. \"-\": more than "
      "a "
      "factor of {} from all settings of the arm.",
      100 * together.confidence,
      arms == 1 ? "the arm has" : fmt::format("all {} arms together have", arms),
      analysis::kFarthest);
}

/// "Left out, ...: a in one, copy (not learned)."; empty if every setting is pooled.
std::string left_out_words(const analysis::Together& together) {
  std::vector<std::string> all;
  for (const auto& arm : together.arms)
    for (const auto& setting : arm.left_out)
      all.push_back(fmt::format("{} in {}", arm.arm, setting));
  if (all.empty()) return "";
  return fmt::format(" Left out, since their verdicts allow no claim about a mean: {}.",
                     fmt::join(all, "; "));
}

/// "Of 20 controls 1 is shown to differ: ..."; empty if no control was tested.
std::string false_alarms_words(const analysis::Together& together) {
  if (!together.false_alarms) return "";
  const auto& found = *together.false_alarms;
  return fmt::format(
      " Of {} control{}, baselines with other random numbers, {} {} shown to differ: false alarms, "
      "whose rate is between {:.1f} and {:.1f} % (95 %, Clopper and Pearson 1934).",
      found.controls, found.controls == 1 ? "" : "s", found.alarms,
      found.alarms == 1 ? "is" : "are", 100 * found.interval.low, 100 * found.interval.high);
}

ForestRow setting_row(const analysis::SettingEffect& setting, const PooledArm& arm, size_t look) {
  const auto& sample = setting.differences;
  auto figures = difference(sample.mean, sample.interval, arm.metric);
  if (sample.interval) figures += " " + interval(sample.interval, arm.metric);
  return {.name = fmt::format("{}, {} ({})", setting.study, setting.setting,
                              analysis::count_figure(setting.parameters)),
          .figures = figures,
          .look = {look},
          .mean = sample.mean,
          .interval = sample.interval,
          .margin = arm.margin,
          .values = sample.values};
}

ForestRow predicted_row(const SizeVerdict& size, const PooledArm& arm, size_t look) {
  return {.name = fmt::format("predicted at {}", analysis::count_figure(size.parameters)),
          .figures = difference(size.effect.mean, size.effect.prediction, arm.metric) + " " +
                     interval(size.effect.prediction, arm.metric) + ", " + verdict_words(arm, size),
          .look = {look},
          .mean = size.effect.mean,
          .interval = size.effect.prediction,
          .margin = arm.margin};
}

ForestGroup group_of(const PooledArm& arm, size_t look) {
  ForestGroup group{.title = arm.arm, .primary = true};
  for (const auto& setting : arm.settings) group.rows.push_back(setting_row(setting, arm, look));
  for (const auto& size : arm.sizes) group.rows.push_back(predicted_row(size, arm, look));
  return group;
}

}  // namespace

Grid together_grid(const analysis::Together& together) {
  Grid grid{.title = "Effects of all studies together",
            .columns = {{.heading = "arm", .holds = Holds::arms},
                        {.heading = "metric", .holds = Holds::names},
                        {.heading = "settings"},
                        {.heading = "tau"},
                        {.heading = "at"},
                        {.heading = "mean", .holds = Holds::differences},
                        {.heading = "interval"},
                        {.heading = "a further one"},
                        {.heading = "verdict", .holds = Holds::names}},
            .note = note_on(together) + left_out_words(together) + false_alarms_words(together)};
  for (const auto& arm : together.arms) {
    const GridRow head{{arm.arm},
                       {analysis::display_name(arm.metric)},
                       {std::to_string(arm.settings.size())},
                       {arm.sizes.empty() ? "-" : analysis::format_metric(arm.tau, arm.metric)}};
    const auto add = [&](const GridRow& figures) {
      grid.rows.push_back(head);
      grid.rows.back().insert(grid.rows.back().end(), figures.begin(), figures.end());
    };
    if (!arm.no_verdict.empty()) {
      add({{"-"}, {"-"}, {"-"}, {"-"}, {arm.no_verdict}});
      continue;
    }
    for (const double parameters : together.sizes) {
      const auto* size = verdict_at(arm, parameters);
      if (size == nullptr)
        add({{analysis::count_figure(parameters)}, {"-"}, {"-"}, {"-"}, {"-"}});
      else
        add({{analysis::count_figure(parameters)},
             {analysis::value_beside(size->effect.mean, size->effect.confidence, arm.metric)},
             {analysis::format_metric(size->effect.confidence, arm.metric)},
             {analysis::format_metric(size->effect.prediction, arm.metric)},
             {verdict_words(arm, *size)}});
    }
  }
  return grid;
}

Grid claims_grid(const analysis::Together& together) {
  Grid grid{
      .title = "Claims of all studies",
      .columns = {{.heading = "study", .holds = Holds::names},
                  {.heading = "setting", .holds = Holds::names},
                  {.heading = "arm", .holds = Holds::arms},
                  {.heading = "claim", .holds = Holds::names},
                  {.heading = "outcome", .holds = Holds::names},
                  {.heading = "p"},
                  {.heading = "q"}},
      .note = fmt::format(
          "Those that were decided, of {}. p is corrected within its study; q is the smallest rate "
          "of false discoveries at which the claim is kept among all of them (Benjamini and "
          "Hochberg 1995). Studies outside the range of a source, and those that did not learn the "
          "task, do not count.",
          together.claims.size())};
  for (const auto& claim : together.claims)
    if (claim.p < 1)
      grid.rows.push_back({{claim.study},
                           {claim.setting + (claim.test_set.empty() ? "" : ", " + claim.test_set)},
                           {claim.arm},
                           {config::word_of(claim.claim)},
                           {analysis::display_name(config::word_of(*claim.outcome))},
                           {analysis::p_figure(claim.p)},
                           {analysis::p_figure(claim.q)}});
  return grid;
}

Forest together_forest(const analysis::Together& together) {
  Forest forest{.title = "Differences from the baselines, in all studies together"};
  std::vector<std::string> metrics;
  for (size_t look = 0; look < together.arms.size(); ++look) {
    const auto& arm = together.arms[look];
    auto known = std::ranges::find(metrics, arm.metric);
    if (known == metrics.end()) {
      known = metrics.insert(known, arm.metric);
      const bool higher = arm.direction == analysis::Direction::higher;
      const auto name = analysis::display_name(arm.metric);
      forest.panels.push_back({.low_side = name + (higher ? ": worse" : ": better"),
                               .high_side = higher ? "better" : "worse"});
    }
    forest.panels[static_cast<size_t>(known - metrics.begin())].groups.push_back(
        group_of(arm, look));
  }
  return forest;
}

}  // namespace ablate::report
