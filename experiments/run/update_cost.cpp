#include "experiments/run/update_cost.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "models/random.h"
#include "tokenizer/special_tokens.h"
#include "training/schedule.h"
#include "training/update.h"

namespace ablate::run {
namespace {

constexpr int64_t kCountedBatches = 256;
constexpr int64_t kParts = 256;             // of a training
constexpr int64_t kMostSummed = 1'000'000;  // updates
constexpr double kMostUpdates = 1e9;

/// Updates that fit into a budget.
struct Fitting {
  const training::TrainingOptions& options;
  const UpdateCost& cost;
  double seconds;

  double operator()(const training::StepBudget&) const {
    return static_cast<double>(options.steps);
  }
  double operator()(const training::TokenBudget& budget) const {
    return std::max(1.0, static_cast<double>(budget.tokens) / cost.tokens);
  }
  double operator()(const training::RatioBudget& budget) const {
    return std::max(1.0, budget.ratio * static_cast<double>(cost.parameters) / cost.tokens);
  }
  double operator()(const training::FlopBudget& budget) const {
    return std::max(1.0, budget.flops / cost.flops);
  }
  double operator()(const training::TimeBudget& budget) const {
    return std::max(1.0, budget.seconds / seconds);
  }
};

struct BatchCost {
  double tokens = 0, flops = 0;
  double ahead = 0;  // FLOPs of each further head
};

/// Batches of one size.
struct Alike {
  models::PassExtent extent;
  double count = 0;
  std::vector<double> tokens;  // of all, to be predicted in their first 1, 2, ... positions

  void add(const data::Batch& batch) {
    ++count;
    std::vector<double> own(static_cast<size_t>(batch.target_length));
    for (size_t i = 0; i < batch.target_out.size(); ++i)
      if (batch.target_out[i] != tokenizer::kPad) ++own[i % own.size()];
    std::partial_sum(own.begin(), own.end(), own.begin());
    own.back() = static_cast<double>(batch.tokens);  // also of labels, one of which is 0 as padding
    tokens.resize(own.size());
    std::ranges::transform(tokens, own, tokens.begin(), std::plus());
  }
};

/// The first batches of an epoch, as updates of a training cut and repeat them.
class CountedBatches {
 public:
  CountedBatches(const config::Experiment& experiment, const RunData& data,
                 const models::TransformerImpl& model)
      : options_(experiment.training),
        heads_(models::heads_ahead(experiment.model)),
        parameters_(models::parameter_count(model)),
        flops_(model) {
    auto stream = counted_batches(experiment, data);
    std::map<std::array<int64_t, 3>, Alike> alike;
    for (int64_t i = 0; i < kCountedBatches; ++i) {
      const auto batch = stream.next();
      auto& group = alike[{batch.rows, batch.source_length, batch.target_length}];
      group.extent = training::extent_of(batch);
      group.add(batch);
    }
    std::vector<int64_t> lengths;
    for (auto& [size, group] : alike) {
      lengths.push_back(group.extent.target);
      alike_.push_back(std::move(group));
    }
    longest_ = std::ranges::max(lengths);
    whole_ = cost_of(lengths);
  }

  /// The mean over the updates of a training of any length.
  UpdateCost of_any() {
    constexpr int64_t kSteps = 2 * kParts;  // of which the odd ones are in the middle of each part
    UpdateCost sum{.parameters = parameters_};
    for (int64_t step = 1; step <= kSteps; step += 2)
      add(sum, {step, kSteps, static_cast<double>(step) / kSteps}, training::mean_passes(options_));
    return mean(sum, kParts);
  }

  /// The mean over the updates of a training of this length.
  UpdateCost of(int64_t updates) {
    const auto steps = std::min(updates, kMostSummed);
    UpdateCost sum{.parameters = parameters_};
    for (int64_t step = 1; step <= steps; ++step)
      add(sum, {step, steps}, static_cast<double>(training::passes_at(options_, step)));
    return mean(sum, static_cast<double>(steps));
  }

 private:
  /// Of all batches together, if the rows of each size have these lengths.
  BatchCost cost_of(const std::vector<int64_t>& lengths) {
    BatchCost sum;
    for (size_t i = 0; i < alike_.size(); ++i) {
      const auto& group = alike_[i];
      auto extent = group.extent;
      extent.target = lengths[i];
      const double flops = flops_.training(extent);
      sum.tokens += group.tokens.at(static_cast<size_t>(extent.target - 1));
      sum.flops += group.count * flops;
      if (heads_ > 0) sum.ahead += group.count * (flops_.training(extent, 1) - flops);
    }
    return sum;
  }

  /// The same at an update, computed once for rows of the same lengths.
  const BatchCost& cost_at(const training::UpdatePlace& now) {
    const auto length = [&](int64_t whole) {
      return training::row_length_at(options_, now, whole);
    };
    if (length(longest_) == longest_) return whole_;
    std::vector<int64_t> lengths;
    for (const auto& group : alike_) lengths.push_back(length(group.extent.target));
    const auto [found, added] = cut_.try_emplace(std::move(lengths));
    if (added) found->second = cost_of(found->first);
    return found->second;
  }

  /// An update with so many passes over each batch.
  void add(UpdateCost& sum, const training::UpdatePlace& now, double passes) {
    const auto& batch = cost_at(now);
    const auto batches = static_cast<double>(training::batches_at(options_, now));
    const auto heads = static_cast<double>(training::heads_at(options_, now, heads_));
    sum.tokens += batches * batch.tokens;
    sum.flops += passes * batches * (batch.flops + heads * batch.ahead);
  }

  static UpdateCost mean(const UpdateCost& sum, double updates) {
    const double count = updates * kCountedBatches;
    return {sum.tokens / count, sum.parameters, sum.flops / count};
  }

  const training::TrainingOptions& options_;
  int64_t heads_, parameters_;
  models::PassFlops flops_;
  std::vector<Alike> alike_;
  int64_t longest_ = 0;  // rows of all
  BatchCost whole_;
  std::map<std::vector<int64_t>, BatchCost> cut_;  // by the lengths of their rows
};

}  // namespace

data::BatchStream counted_batches(const config::Experiment& experiment, const RunData& data) {
  return {data.train.examples,
          {.tokens_per_batch = experiment.training.tokens_per_batch,
           .seed = models::derive_seed(kDataSeed, "order"),
           .start = {},
           .augmentation = data.augmentation(kDataSeed)}};
}

int64_t updates_within(const training::TrainingOptions& options, const UpdateCost& cost,
                       double seconds) {
  const auto updates = std::visit(Fitting{options, cost, seconds}, options.budget);
  return static_cast<int64_t>(std::min(updates, kMostUpdates));
}

RunLength run_length(const config::Experiment& experiment, const RunData& data,
                     const models::TransformerImpl& model, double seconds) {
  CountedBatches batches(experiment, data, model);
  const auto fitting = [&](const UpdateCost& cost) {
    return updates_within(experiment.training, cost, seconds);
  };
  auto updates = fitting(batches.of_any());
  auto cost = batches.of(updates);
  // One fewer would fit as well: the sum then exceeds the budget by less than an update.
  constexpr int kMostCorrections = 8;
  for (int i = 0; i < kMostCorrections; ++i) {
    const auto better = fitting(cost);
    if (better == updates || better + 1 == updates) break;
    updates = better;
    cost = batches.of(updates);
  }
  return {updates, cost};
}

}  // namespace ablate::run
