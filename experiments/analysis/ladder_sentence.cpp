#include "experiments/analysis/ladder_sentence.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include "experiments/analysis/family.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/lists.h"
#include "experiments/config/schema/option.h"

namespace ablate::analysis {
namespace {

/// "sizes", "peak"
std::string axis_words(const Ladder& ladder) {
  return ladder.axis == kSizeAxis ? "sizes" : config::last_key(ladder.axis);
}

/// "0.004", "1.2 M": a place on the axis.
std::string place_figure(const Ladder& ladder, double x) {
  if (ladder.axis == kSizeAxis) return count_figure(x) + " parameters";
  return fmt::format("{:.3g}", x);
}

/// "-0.072 [-0.111, -0.026]"
std::string slope_figure(const Ladder& ladder, const LadderArm& arm) {
  return estimate_figure(arm.slope.mean, arm.slope.interval, ladder.metric);
}

/// "with ten times the parameters"
std::string step_words(const Ladder& ladder) {
  return (ladder.logarithmic ? "with ten times the " : "per unit of ") +
         (ladder.axis == kSizeAxis ? "parameters" : config::last_key(ladder.axis));
}

bool shows_slope(const LadderArm& arm) { return arm.slope_p <= kLevel; }

/// " (p 0.031)"; empty without a p, and for arms in `said`, whose first sentence gives it.
std::string slope_p_words(const LadderArm& arm, const Arms& said) {
  const bool given = said.contains(&arm) && shows_slope(arm);
  return given || std::isnan(arm.slope_p) ? "" : fmt::format(" (p {})", p_figure(arm.slope_p));
}

std::string slope_text(const Ladder& ladder, const LadderArm& arm, const Arms& said) {
  if (arm.slope.count == 0) return "";
  return fmt::format("its difference changes by {} {}{}.", slope_figure(ladder, arm),
                     step_words(ladder), slope_p_words(arm, said));
}

std::string turn_text(const Ladder& ladder, const LadderArm& arm) {
  std::string text = arm.turns ? "its sign turns" : "no turn of its sign is shown";
  if (arm.crossing)
    text += fmt::format("; the line through its means is zero at {}",
                        place_figure(ladder, *arm.crossing));
  return text + ".";
}

std::string best_text(const Ladder& ladder, const LadderArm& arm) {
  if (!arm.best_effect || arm.best_effect->count == 0) return "";
  return fmt::format(
      "with the best value of each seed it differs from {} by {}{}.", arm.baseline,
      estimate_figure(arm.best_effect->mean, arm.best_effect->interval, ladder.metric),
      std::isnan(arm.best_p) ? "" : fmt::format(" (p {})", p_figure(arm.best_p)));
}

/// "three", of a few.
std::string count_words(size_t count) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"three", "four", "five", "six", "seven", "eight", "nine", "ten"});
  return count >= 3 && count - 3 < kWords.size() ? std::string(kWords[count - 3])
                                                 : std::to_string(count);
}

/// The noun for this number of rungs: "block", "blocks", "value of d_model".
std::string rung_words(const Ladder& ladder, size_t count) {
  if (ladder.axis == kSizeAxis) return count == 1 ? "size" : "sizes";
  const auto key = config::last_key(ladder.axis);
  const bool has_plural = key.find('_') == std::string::npos && !key.ends_with('s') &&
                          !key.ends_with('y');  // "layers", "vocabulary"
  if (has_plural) return count == 1 ? key : key + "s";
  return fmt::format("value{} of {}", count == 1 ? "" : "s", key);
}

/// "all three blocks", "both sizes", "block 32", "sizes small and large"
std::string place_words(const Ladder& ladder, const std::vector<size_t>& rungs) {
  if (rungs.size() == ladder.rungs.size()) return all_rungs(ladder);
  return rung_words(ladder, rungs.size()) + " " +
         enumerated(rungs, [&](size_t rung) { return ladder.rungs[rung].label; });
}

/// "0.119 to 0.185 bits per character less", "0.010 less to 0.020 more exact match"
std::string range_words(const Ladder& ladder, const LadderArm& arm,
                        const std::vector<size_t>& rungs) {
  const auto mean_at = [&](size_t rung) { return arm.effects[rung].mean; };
  const auto [least_at, most_at] = std::ranges::minmax(rungs, {}, mean_at);
  const double low = mean_at(least_at), high = mean_at(most_at);
  const auto name = display_name(ladder.metric);
  if (low == 0 && high == 0) return "the same " + name;
  if (low < 0 && high > 0)
    return fmt::format("{} less to {} more {}", format_metric(-low, ladder.metric),
                       format_metric(high, ladder.metric), name);
  const auto [least, most] = interval_ends(
      low < 0 ? statistics::Interval{std::abs(high), -low} : statistics::Interval{low, high},
      ladder.metric);
  return fmt::format("{}{} {} {}", least == most ? "" : least + " to ", most, name,
                     low < 0 ? "less" : "more");
}

/// "; its lead shrinks as the block grows (p 0.031)"; empty if no slope is shown.
std::string trend_words(const Ladder& ladder, const LadderArm& arm) {
  if (!shows_slope(arm)) return "";
  const double sign = ladder.direction == Direction::lower ? -1 : 1;
  const auto all = [&](auto holds) {
    return ladder.direction != Direction::neither &&
           std::ranges::all_of(arm.effects,
                               [&](const Sample& effect) { return holds(sign * effect.mean); });
  };
  const bool leads = all([](double better) { return better > 0; });
  const bool lags = all([](double better) { return better < 0; });
  const bool grows = sign * arm.slope.mean > 0;
  const auto change = leads  ? (grows ? "lead grows" : "lead shrinks")
                      : lags ? (grows ? "deficit shrinks" : "deficit grows")
                             : (arm.slope.mean > 0 ? "difference rises" : "difference falls");
  return fmt::format("; its {} as the {} grows (p {})", change,
                     ladder.axis == kSizeAxis ? "model" : config::last_key(ladder.axis),
                     p_figure(arm.slope_p));
}

bool shows_something(const LadderArm& arm) {
  return arm.turns || shows_slope(arm) || arm.interaction_p <= kLevel || arm.best_p <= kLevel;
}

/// Whether the slope says all that is shown of the arm.
bool only_slopes(const LadderArm& arm) {
  return arm.no_claim.empty() && shows_slope(arm) && !arm.turns && !(arm.best_p <= kLevel);
}

/// The slopes of several arms in one sentence.
std::string sentence_on_slopes(const Ladder& ladder, std::span<const LadderArm* const> arms,
                               const Arms& said) {
  std::vector<std::string> slopes;
  for (const auto* arm : arms)
    slopes.push_back(fmt::format("by {} for {}{}", slope_figure(ladder, *arm), arm->name,
                                 slope_p_words(*arm, said)));
  return fmt::format("the difference from the baseline changes {} {}.", step_words(ladder),
                     fmt::join(slopes, ", "));
}

/// "Over sizes, peak=0.004, ": with what tells the ladder from the others of the study.
std::string context_of(const Ladder& ladder, std::span<const Ladder> all) {
  auto text = "Over " + axis_words(ladder) + ", ";
  if (!ladder.at.empty()) text += ladder.at + ", ";
  if (vary(all, &Ladder::task)) text += ladder.task + ", ";
  if (vary(all, &Ladder::test_set)) text += "on " + ladder.test_set + ", ";
  return text;
}

}  // namespace

bool vary(std::span<const Ladder> all, std::string Ladder::*part) {
  return std::ranges::any_of(all,
                             [&](const Ladder& one) { return one.*part != all.front().*part; });
}

std::string all_rungs(const Ladder& ladder) {
  const auto count = ladder.rungs.size();
  return (count == 2 ? "both " : "all " + count_words(count) + " ") + rung_words(ladder, count);
}

std::string lead_of(const Ladder& ladder, const LadderArm& arm,
                    std::span<const std::string> verdicts) {
  std::vector<size_t> all(verdicts.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::string text;
  for (const auto& [verdict, rungs] : grouped(all, [&](size_t rung) { return verdicts[rung]; }))
    text += fmt::format("{}{} at {} ({})", text.empty() ? "" : ", ", verdict,
                        place_words(ladder, rungs), range_words(ladder, arm, rungs));
  return text + trend_words(ladder, arm);
}

std::string sentence_on(const Ladder& ladder, const LadderArm& arm, const Arms& said) {
  if (arm.effects.empty()) return "";
  if (!arm.no_claim.empty())
    return fmt::format("{}: no claim over {}; verdicts: {}.", arm.name, axis_words(ladder),
                       arm.no_claim);
  const bool interacts = !std::isnan(arm.interaction_p) && arm.effects.size() > 2;
  std::string text;
  for (auto clause :
       {slope_text(ladder, arm, said),
        interacts ? fmt::format("that its difference is the same everywhere has p {}.",
                                p_figure(arm.interaction_p))
                  : "",
        turn_text(ladder, arm), best_text(ladder, arm)}) {
    if (clause.empty()) continue;
    if (!text.empty()) clause.front() = static_cast<char>(clause.front() - 'a' + 'A');
    text += " " + clause;
  }
  return arm.name + ":" + text;
}

std::string headline_of(std::span<const Ladder> ladders, const Arms& said) {
  std::vector<std::string> sentences;
  for (const auto& ladder : ladders) {
    const auto context = context_of(ladder, ladders);
    std::vector<std::string> others;
    std::vector<const LadderArm*> sloping;
    for (const auto& arm : ladder.arms)
      if (!arm.effects.empty() && only_slopes(arm)) sloping.push_back(&arm);
    if (sloping.size() > 1)
      sentences.push_back(context + sentence_on_slopes(ladder, sloping, said));
    for (const auto& arm : ladder.arms) {
      if (arm.effects.empty() || (sloping.size() > 1 && only_slopes(arm))) continue;
      if (shows_something(arm) || !arm.no_claim.empty())
        sentences.push_back(context + sentence_on(ladder, arm, said));
      else
        others.push_back(arm.name);
    }
    if (!others.empty())
      sentences.push_back(
          fmt::format("{}no change of the difference from the baseline is shown: {}.", context,
                      fmt::join(others, ", ")));
  }
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace ablate::analysis
