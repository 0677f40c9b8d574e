#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/analysis/figure.h"
#include "experiments/report/number.h"
#include "experiments/report/page/sections.h"

namespace ablate::report {
namespace {

constexpr int kPointsOfLaw = 40;

/// From the smallest arm to the largest.
Line measured_sizes(const TaskView& view, const analysis::SizeFit& fit) {
  auto arms = view.task.arms;
  std::ranges::stable_sort(arms, {}, &analysis::ArmEvidence::parameters);
  Line line{.name = "arms", .look = {.arm = 0}, .points = {}, .spread = {}};
  for (const auto& arm : arms) {
    const auto& sample = analysis::find_cell(arm, fit.test_set, fit.metric)->sample;
    line.points.push_back({std::log10(static_cast<double>(arm.parameters)), sample.mean});
    line.spread.push_back(sample.interval.value_or(statistics::Interval{sample.mean, sample.mean}));
  }
  return line;
}

Line law_line(const analysis::SizeFit& fit, double from, double to) {
  Line line{.name = "law", .look = {.arm = 1}, .points = {}, .spread = {}};
  for (int i = 0; i <= kPointsOfLaw; ++i) {
    const double x = from + (to - from) * i / kPointsOfLaw;
    line.points.push_back({x, fit.law.at(std::pow(10, x))});
  }
  return line;
}

Markup size_fit(const TaskView& view, const analysis::SizeFit& fit) {
  const auto arms = measured_sizes(view, fit);
  const auto law = law_line(fit, arms.points.front().x, arms.points.back().x);
  const auto metric = analysis::spoken(fit.metric);
  const LineChart chart{.title = metric + " over size",
                        .x_label = "parameters, as a power of ten",
                        .y_label = metric,
                        .lines = {arms, law},
                        .whiskers = true};
  return figure(chart, fmt::format("Means of the arms with their 95 % intervals, and {} times "
                                   "parameters to the power of {}.",
                                   plain(fit.law.factor), plain(fit.law.exponent)));
}

}  // namespace

Markup size_fits(const TaskView& view) {
  Markup drawn;
  for (const auto& fit : view.task.fits) drawn += size_fit(view, fit);
  return drawn;
}

}  // namespace ablate::report
