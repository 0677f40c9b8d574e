#include "experiments/analysis/ladder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "experiments/analysis/aggregate.h"
#include "experiments/analysis/claims.h"
#include "experiments/analysis/contrast.h"
#include "experiments/analysis/equivalent_compute.h"
#include "experiments/analysis/family.h"
#include "experiments/analysis/figure.h"
#include "experiments/analysis/interaction.h"
#include "experiments/analysis/ladder_sentence.h"
#include "experiments/analysis/lists.h"
#include "experiments/analysis/statistics/estimates.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/yaml/value.h"

namespace ablate::analysis {
namespace {

using Tasks = std::vector<const TaskEvidence*>;

/// Whether the best of several values may be chosen: of how a model is trained, but not of its
/// data, of its size and of how long it is trained.
bool is_tunable(const std::string& axis) {
  return axis.ends_with("dropout") || (axis.starts_with("training.") && axis != "training.steps" &&
                                       !axis.starts_with("training.budget"));
}

/// The value of the grid's key in a task; null if its grid has no such key.
const std::string* value_of(const TaskEvidence& task, const std::string& key) {
  const auto found = std::ranges::find(task.setting.grid, key, &config::GridPoint::key);
  return found == task.setting.grid.end() ? nullptr : &found->value;
}

double parameters_of_baseline(const TaskEvidence& task) {
  const auto* baseline = baseline_of(task);
  return baseline == nullptr || baseline->parameters == 0
             ? kUntested
             : static_cast<double>(baseline->parameters);
}

Rung rung_of(const TaskEvidence& task, const std::string& axis) {
  if (axis == kSizeAxis) return {task.name, task.setting.size, parameters_of_baseline(task)};
  const auto& value = *value_of(task, axis);
  return {task.name, value, config::spelled_number(value).value_or(kUntested)};
}

/// The coordinates of a task besides the axis: "small, peak=0.004".
std::string other_coordinates(const TaskEvidence& task, const std::string& axis) {
  std::string text = axis == kSizeAxis ? "" : task.setting.size;
  for (const auto& [key, value] : task.setting.grid)
    if (key != axis)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", config::last_key(key), value);
  return text;
}

/// Whether a rung with this verdict may support a sentence about all rungs.
bool supports_claims(Verdict verdict) {
  return is_claim(verdict) || verdict == Verdict::inconclusive || verdict == Verdict::too_few_seeds;
}

struct StraightLine {
  double slope = 0, intercept = 0;
};

StraightLine fitted(const std::vector<double>& x, const std::vector<double>& y) {
  const double middle_x = statistics::mean(x), middle_y = statistics::mean(y);
  double above = 0, below = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    above += (x[i] - middle_x) * (y[i] - middle_y);
    below += (x[i] - middle_x) * (x[i] - middle_x);
  }
  const double slope = above / below;
  return {slope, middle_y - slope * middle_x};
}

/// -1, 0 or 1: on which side of zero the whole interval lies.
int side_of_zero(const Sample& sample) {
  if (!sample.interval) return 0;
  return sample.interval->low > 0 ? 1 : sample.interval->high < 0 ? -1 : 0;
}

/// Makes the ladder of some tasks over one axis on one test set.
class Climb {
 public:
  Climb(Tasks tasks, const std::string& axis, const Cell& cell, const config::Study& study,
        int64_t look)
      : tasks_(std::move(tasks)),
        comparisons_(compared_arms(*tasks_.front(), study).size()),
        compare_(*study.compare),
        look_(look) {
    const auto& first = *tasks_.front();
    ladder_ = {.task = first.setting.task,
               .axis = axis,
               .at = other_coordinates(first, axis),
               .test_set = cell.test_set,
               .metric = cell.metric,
               .direction = cell.direction};
    std::ranges::stable_sort(tasks_, [&](const auto* left, const auto* right) {
      return rung_of(*left, axis).x < rung_of(*right, axis).x;
    });
    for (const auto* task : tasks_) ladder_.rungs.push_back(rung_of(*task, axis));
    set_scale();
  }

  /// All arms are tested together; only then what some of them cannot claim is withheld.
  Ladder ladder() && {
    for (const auto& arm : tasks_.front()->arms) add(arm.name);
    test_interactions();
    test_slopes();
    for (auto& arm : ladder_.arms) compare_best(arm);
    test_best();
    for (auto& arm : ladder_.arms)
      if (!arm.no_claim.empty()) withhold(arm);
    return std::move(ladder_);
  }

 private:
  void set_scale() {
    std::vector<double> all;
    for (const auto& rung : ladder_.rungs) all.push_back(rung.x);
    const auto low = std::ranges::min(all);
    const bool distinct = std::ranges::adjacent_find(all, [](double one, double next) {
                            return !(one < next);  // also of NaN
                          }) == all.end();
    if (!distinct) return;
    ladder_.logarithmic = low > 0;
    for (const double x : all) places_.push_back(low > 0 ? std::log10(x) : x);
  }

  void add(const std::string& name) {
    LadderArm arm{.name = name};
    std::vector<Sized> models;
    std::vector<Trained> trained, trained_baseline;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const auto& task = *tasks_[i];
      // All tasks have the same arms, and all arms of a task the same cells.
      const auto& own = *find_named(task.arms, name);
      const auto& cell = *find_cell(own, ladder_.test_set, ladder_.metric);
      arm.scores.push_back(cell.sample);
      models.push_back({own.parameters, &cell.sample});
      const auto* baseline = baseline_of(task, own);
      if (baseline == nullptr) continue;
      const auto& reference = *find_cell(*baseline, ladder_.test_set, ladder_.metric);
      arm.baseline = baseline->name;
      add_effect(arm, cell, reference);
      trained.push_back({&own.training_flops, &cell.sample});
      trained_baseline.push_back({&baseline->training_flops, &reference.sample});
      if (ladder_.axis == kSizeAxis)
        arm.time.push_back(time_ratio(own.training_seconds, baseline->training_seconds));
    }
    if (!arm.effects.empty()) describe_effects(arm);
    if (ladder_.axis == kSizeAxis && !trained.empty())
      arm.compute = compute_ratios(trained, trained_baseline);
    if (std::ranges::all_of(arm.time, [](const auto& ratio) { return std::isnan(ratio.mean); }))
      arm.time.clear();
    add_best(arm);
    if (compare_.fit == config::Fit::power)
      arm.fit = size_fit_of(models, ladder_.test_set, ladder_.metric);
    ladder_.arms.push_back(std::move(arm));
  }

  /// With the interval and the p of the rung's verdict.
  void add_effect(LadderArm& arm, const Cell& own, const Cell& baseline) const {
    const bool bounded = is_censored(own.sample) || is_censored(baseline.sample);
    auto effect = sample_of(bounded ? std::vector<double>(own.sample.values.size(), kUntested)
                                    : differences_by_seed(own.sample, baseline.sample));
    const auto& contrast = own.contrast;
    effect.interval = contrast ? contrast->interval : std::nullopt;
    arm.p.push_back(contrast ? contrast->difference.adjusted_p : kUntested);
    if (!contrast || !supports_claims(contrast->verdict))
      arm.no_claim +=
          fmt::format("{}{} at {}", arm.no_claim.empty() ? "" : ", ",
                      contrast ? display_name(contrast->verdict) : "no finished comparison",
                      ladder_.rungs[arm.effects.size()].label);
    arm.effects.push_back(std::move(effect));
  }

  /// The slope of each seed, not tested yet, and whether the sign turns.
  void describe_effects(LadderArm& arm) const {
    for (const auto& left : arm.effects)
      for (const auto& right : arm.effects)
        arm.turns = arm.turns || side_of_zero(left) * side_of_zero(right) < 0;
    if (places_.empty()) return;
    std::vector<double> slopes, means;
    for (size_t seed = 0; seed < arm.effects.front().values.size(); ++seed) {
      const auto values = over_rungs(arm.effects, seed);
      slopes.push_back(values.empty() ? kUntested : fitted(places_, centred_at_zero(values)).slope);
    }
    arm.slope = sample_of(std::move(slopes));
    for (const auto& effect : arm.effects) means.push_back(effect.mean);
    const auto line = fitted(places_, means);
    const double zero = -line.intercept / line.slope;
    if (arm.turns && zero > places_.front() && zero < places_.back())
      arm.crossing = ladder_.logarithmic ? std::pow(10, zero) : zero;
  }

  void test_interactions() {
    std::vector<Effects> effects;
    for (const auto& arm : ladder_.arms)
      if (!arm.effects.empty()) effects.push_back(arm.effects);
    const auto p = interaction_p(effects, comparisons_, joint_of(compare_.correction));
    auto next = p.begin();
    for (auto& arm : ladder_.arms) {
      if (arm.effects.empty()) continue;
      const double one = *next++;  // NaN: not tested
      arm.interaction_p =
          std::isnan(one) ? one : std::min(1.0, statistics::look_factor(look_) * one);
    }
  }

  void test_slopes() {
    std::vector<Estimate> slopes;
    for (auto& arm : ladder_.arms)
      if (arm.slope.count > 0) slopes.push_back({&arm.slope, &arm.slope_p});
    test(slopes);
  }

  void test_best() {
    std::vector<Estimate> best;
    for (auto& arm : ladder_.arms)
      if (arm.best_effect) best.push_back({&*arm.best_effect, &arm.best_p});
    test(best);
  }

  /// One number for each seed of an arm, and the p of the hypothesis that it is 0 on average.
  struct Estimate {
    Sample* sample;
    double* p;
  };

  /// Tests estimates, at most one for each arm, as a family.
  void test(const std::vector<Estimate>& estimates) const {
    std::vector<Contrast> contrasts(estimates.size());
    Family family{.comparisons = static_cast<int64_t>(comparisons_),
                  .test = compare_.test,
                  .correction = compare_.correction,
                  .look = look_};
    for (size_t i = 0; i < estimates.size(); ++i) {
      const auto& sample = *estimates[i].sample;
      contrasts[i].differences = finished_values(sample);
      contrasts[i].mean = sample.mean;
      if (sample.count < 2 || !std::isfinite(sample.mean)) continue;
      family.tested.push_back({.contrast = &contrasts[i],
                               .pairs = pairs_of(sample, sample),
                               .baseline = std::vector<double>(contrasts[i].differences.size()),
                               .direction = ladder_.direction});
    }
    test_family(family);
    for (size_t i = 0; i < estimates.size(); ++i) {
      estimates[i].sample->interval = contrasts[i].interval;
      *estimates[i].p = contrasts[i].difference.adjusted_p;
    }
  }

  static void withhold(LadderArm& arm) {
    arm.slope = {};
    arm.slope_p = arm.interaction_p = arm.best_p = kUntested;
    arm.turns = false;
    arm.crossing.reset();
    arm.best_effect.reset();
  }

  /// Each seed's best score; of equal ones the first.
  void add_best(LadderArm& arm) const {
    if (!is_tunable(ladder_.axis) || ladder_.direction == Direction::neither) return;
    std::vector<double> best;
    arm.best_at.resize(arm.scores.size());
    for (size_t seed = 0; seed < arm.scores.front().values.size(); ++seed) {
      const auto values = over_rungs(arm.scores, seed);
      best.push_back(kUntested);
      if (values.empty()) continue;
      const auto found = ladder_.direction == Direction::higher ? std::ranges::max_element(values)
                                                                : std::ranges::min_element(values);
      best.back() = *found;
      ++arm.best_at[static_cast<size_t>(found - values.begin())];
    }
    arm.best = sample_of(std::move(best));
  }

  void compare_best(LadderArm& arm) const {
    const auto* baseline = find_named(ladder_.arms, arm.baseline);
    if (baseline != nullptr && arm.best)
      arm.best_effect = sample_of(differences_by_seed(*arm.best, *baseline->best));
  }

  Tasks tasks_;
  size_t comparisons_;  // arms of the study's file but the baseline
  const config::Comparison& compare_;
  int64_t look_;
  Ladder ladder_;
  std::vector<double> places_;  // of the rungs on the axis of the slope; empty: it has none
};

/// The axes of a task that its settings vary.
std::vector<std::string> axes_of(const Tasks& tasks) {
  std::vector<std::string> axes;
  const auto& first = tasks.front()->setting;
  if (!first.size.empty()) axes.emplace_back(kSizeAxis);
  for (const auto& point : first.grid)
    if (std::ranges::none_of(tasks, [&](const auto* task) {
          return !config::spelled_number(*value_of(*task, point.key));
        }))
      axes.push_back(point.key);
  return axes;
}

/// Tasks that differ only along the axis, in their order.
std::vector<Tasks> along(const Tasks& tasks, const std::string& axis) {
  std::vector<Tasks> all;
  for (const auto& [at, group] :
       grouped(tasks, [&](const auto* task) { return other_coordinates(*task, axis); }))
    if (group.size() > 1) all.push_back(group);
  return all;
}

bool all_have(const Tasks& tasks, const Cell& cell) {
  return std::ranges::all_of(tasks, [&](const TaskEvidence* task) {
    return find_cell(task->arms.front(), cell.test_set, cell.metric) != nullptr;
  });
}

}  // namespace

std::vector<Ladder> ladders_of(std::span<const TaskEvidence> tasks, const config::Study& study,
                               int64_t look) {
  Tasks all;
  for (const auto& task : tasks) all.push_back(&task);
  std::vector<Ladder> ladders;
  for (const auto& [name, settings] :
       grouped(all, [](const auto* task) { return task->setting.task; }))
    for (const auto& axis : axes_of(settings))
      for (const auto& group : along(settings, axis))
        for (const auto& cell : group.front()->arms.front().cells)
          if (cell.primary && cell.metric == group.front()->metric && all_have(group, cell)) {
            auto ladder = Climb(group, axis, cell, study, look).ladder();
            for (auto& arm : ladder.arms) arm.sentence = sentence_on(ladder, arm);
            ladders.push_back(std::move(ladder));
          }
  return ladders;
}

}  // namespace ablate::analysis
