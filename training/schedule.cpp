#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ablate::training {
namespace {

struct AfterWarmup {
  double step, steps;

  /// Share of the way from the end of the warm-up, where the peak is, to the last step, in [0, 1].
  double progress(const Warmup& o) const {
    const double warmup = static_cast<double>(o.warmup);
    return step <= warmup ? 0.0 : std::min(1.0, (step - warmup) / (steps - warmup));
  }
  double operator()(const Constant& o) const { return o.peak; }
  double operator()(const InverseSquareRoot& o) const {
    return o.peak * std::sqrt(static_cast<double>(std::max<int64_t>(o.warmup, 1)) / step);
  }
  double operator()(const Cosine& o) const {
    return o.floor + (o.peak - o.floor) * 0.5 * (1 + std::cos(std::numbers::pi * progress(o)));
  }
  double operator()(const Linear& o) const {
    return o.floor + (o.peak - o.floor) * (1 - progress(o));
  }
  double operator()(const Stable& o) const {
    const double begin = std::max(static_cast<double>(o.warmup), steps * (1 - o.decay));
    if (step <= begin) return o.peak;
    const double share = std::min(1.0, (step - begin) / (steps - begin));
    switch (o.shape) {
      case DecayShape::linear:
        return o.floor + (o.peak - o.floor) * (1 - share);
      case DecayShape::square_root:
        return o.floor + (o.peak - o.floor) * (1 - std::sqrt(share));
      case DecayShape::exponential:
        return o.peak * std::pow(o.floor / o.peak, share);
    }
    return o.peak;
  }
};

}  // namespace

double learning_rate(const ScheduleOptions& schedule, int64_t step, int64_t steps) {
  const auto* warmup = std::visit([](const auto& o) -> const Warmup* { return &o; }, schedule);
  if (step < warmup->warmup)
    return warmup->peak * static_cast<double>(step) / static_cast<double>(warmup->warmup);
  return std::visit(AfterWarmup{static_cast<double>(step), static_cast<double>(steps)}, schedule);
}

int64_t batches_at(const TrainingOptions& options, const UpdatePlace& now) {
  auto batches = options.accumulate;
  options.given_stages([&](const auto& stage) { batches = stage.batches(now, batches); });
  return batches;
}

double mean_batches(const TrainingOptions& options) {
  auto mean = static_cast<double>(options.accumulate);
  options.given_stages([&](const auto& stage) { mean = stage.mean_batches(mean); });
  return mean;
}

int64_t row_length_at(const TrainingOptions& options, const UpdatePlace& now, int64_t longest) {
  options.given_stages([&](const auto& stage) { longest = stage.row_length(now, longest); });
  return longest;
}

int64_t passes_at(const TrainingOptions& options, int64_t step) {
  const auto interval = curvature_interval(options.optimizer);
  return interval && (step - 1) % *interval == 0 ? 2 : 1;
}

double mean_passes(const TrainingOptions& options) {
  const auto interval = curvature_interval(options.optimizer);
  return interval ? 1 + 1 / static_cast<double>(*interval) : 1;
}

int64_t heads_at(const TrainingOptions& options, const UpdatePlace& now, int64_t heads) {
  options.given_stages([&](const auto& stage) { heads = stage.heads(now, heads); });
  return heads;
}

}  // namespace ablate::training
