#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "experiments/analysis/figure.h"
#include "experiments/analysis/tuned_values.h"
#include "experiments/report/markup.h"
#include "experiments/report/page/page.h"

namespace ablate::report {
namespace {

double number_of(const std::string& value) {
  return config::spelled_number(value).value_or(std::nan(""));
}

statistics::Interval range_of(const config::TriedCombination& tried) {
  std::vector<double> scores;
  for (const auto& score : tried.scores)
    if (score) scores.push_back(*score);
  const auto [low, high] = std::ranges::minmax(scores);
  return {low, high};
}

/// The index of the combination that most searches have chosen.
std::optional<size_t> mostly_chosen(const config::ArmSearch& search) {
  std::optional<size_t> most;
  for (size_t i = 0; i < search.tried.size(); ++i)
    if (const auto times = analysis::times_chosen(search, i);
        times > (most ? analysis::times_chosen(search, *most) : 0))
      most = i;
  return most;
}

/// The scores of an arm over the values of the only key.
Line tuned_line(const analysis::TunedArm& arm, const Looks& looks) {
  const auto& search = arm.search;
  Line line{.name = search.arm, .look = looks.of(search.arm)};
  std::vector<const config::TriedCombination*> tried;
  for (const auto& one : search.tried)
    if (!std::isnan(config::mean_score(one))) tried.push_back(&one);
  std::ranges::sort(tried, {}, [](const auto* one) { return number_of(one->values.front()); });
  for (const auto* one : tried) {
    line.points.push_back({number_of(one->values.front()), config::mean_score(*one)});
    if (one->scores.size() > 1) line.spread.push_back(range_of(*one));
  }
  if (arm.curve) {
    if (!arm.curve->weights.empty()) line.ringed = Point{arm.curve->value, arm.curve->score};
  } else if (const auto most = mostly_chosen(search)) {
    const auto& chosen = search.tried[*most];
    line.ringed = Point{number_of(chosen.values.front()), config::mean_score(chosen)};
  }
  return line;
}

std::string ring_words(config::TunedBy by) {
  if (by == config::TunedBy::curve) return "vertex of the curve that fits them";
  return by == config::TunedBy::shared ? "chosen value" : "value that most seeds have chosen";
}

Markup tuning_curve(const analysis::TuningEvidence& tuning, const std::string& task,
                    const Looks& looks) {
  const auto metric = analysis::display_name(tuning.metric);
  LineChart chart{.title = fmt::format("{}: {} over {}", task, metric, tuning.keys.front().name),
                  .x_label = tuning.keys.front().path,
                  .y_label = metric};
  bool positive = true;
  for (const auto& arm : tuning.arms) {
    if (arm.search.task != task) continue;
    auto line = tuned_line(arm, looks);
    for (const auto& point : line.points) {
      positive = positive && point.x > 0;
      chart.x_ticks.push_back(point.x);
    }
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  chart.logarithmic_x = positive;
  std::ranges::sort(chart.x_ticks);
  return figure(chart, fmt::format("Mean over {} {}; the band is the range of these seeds, "
                                   "and a ring is around the {}.",
                                   tuning.seeds.size() == 1 ? "seed" : "seeds",
                                   fmt::join(tuning.seeds, ", "), ring_words(tuning.by)));
}

Markup tuning_curves(const analysis::Evidence& evidence, const Looks& looks) {
  const auto& tuning = *evidence.tuning;
  if (tuning.keys.size() != 1 || !config::have_ends(tuning.keys.front().values)) return {};
  Markup drawn;
  for (const auto& task : evidence.tasks) drawn += tuning_curve(tuning, task.name, looks);
  return figures(drawn);
}

std::string words_of(const analysis::TuningEvidence& tuning) {
  const auto metric = analysis::display_name(tuning.metric);
  if (tuning.by == config::TunedBy::curve)
    return fmt::format(
        "Every seed has run every value, and every arm is compared where the curve over the "
        "logarithm of {} that fits its mean {} is best: a cubic, of three values a parabola. The "
        "scores there are those of each seed's own curve. The misfit is the most that the curve "
        "misses a mean by, of a perplexity in nats.",
        analysis::paths_of(tuning), metric);
  const bool shared = tuning.by == config::TunedBy::shared;
  return fmt::format(
      "Every {} has the values of {} that are best by {}, {} {}. Neither these seeds nor the test "
      "sets are part of the results.{}",
      shared ? "arm" : "seed of an arm", analysis::paths_of(tuning), metric,
      shared ? "as the mean over" : "in a search on", analysis::seeds_of(tuning),
      shared ? "" : " So the luck of a search is in the differences between seeds.");
}

Markup gains(const analysis::Evidence& evidence) {
  Markup all;
  for (const auto& arm : evidence.tuning->arms)
    all += paragraph("", analysis::gain_sentence(arm, evidence));
  return all;
}

}  // namespace

Markup tuning(const analysis::Evidence& evidence, const Looks& looks) {
  if (!evidence.tuning || evidence.tuning->arms.empty()) return {};
  return paragraph("", words_of(*evidence.tuning)) + grid_table(tuning_grid(evidence), looks) +
         gains(evidence) +
         paragraph("muted",
                   "Sensitivity is the mean over the study's list of values of the validation loss "
                   "in nats, less the loss of the chosen ones (Wortsman et al. 2023): 0 if the "
                   "values do not matter.") +
         tuning_curves(evidence, looks) +
         folded(
             "Every combination that was tried, and the mean difference from the baseline with "
             "equal values",
             grid_table(tried_grid(evidence), looks));
}

}  // namespace ablate::report
