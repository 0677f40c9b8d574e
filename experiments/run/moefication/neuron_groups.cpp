#include "experiments/run/moefication/neuron_groups.h"

#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "training/optimizer.h"

namespace ablate::run {
namespace {

constexpr int kRounds = 100;
constexpr int kSwapPasses = 8;

/// The group of every neuron as the neurons of every group. // [F] -> [F]
torch::Tensor in_order(const std::vector<int64_t>& group) {
  return torch::tensor(group, torch::kLong).argsort(/*stable=*/true, 0, false);
}

/// Neurons and groups paired from the smallest distance on, while a group has room.
std::vector<int64_t> balanced(const torch::Tensor& distance) {  // [F, E]
  const int64_t neurons = distance.size(0), groups = distance.size(1), room = neurons / groups;
  const auto order = distance.flatten().argsort(/*stable=*/true, 0, false).contiguous();
  std::vector<int64_t> group(static_cast<size_t>(neurons), -1);
  std::vector<int64_t> taken(static_cast<size_t>(groups), 0);
  const auto* pair = order.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < order.size(0); ++i) {
    const auto neuron = static_cast<size_t>(pair[i] / groups);
    const auto wanted = static_cast<size_t>(pair[i] % groups);
    if (group[neuron] >= 0 || taken[wanted] == room) continue;
    group[neuron] = static_cast<int64_t>(wanted);
    ++taken[wanted];
  }
  return group;
}

/// Means of the rows of every group. // [F, D] -> [E, D]
torch::Tensor group_means(const torch::Tensor& rows, const std::vector<int64_t>& group,
                          int64_t groups) {
  return rows.index_select(0, in_order(group)).view({groups, -1, rows.size(1)}).mean(1);
}

/// Groups of one size under a symmetric affinity between neurons. // [F, F]
class Partition {
 public:
  Partition(const torch::Tensor& affinity, int64_t groups)
      : affinity_(affinity),
        neurons_(static_cast<size_t>(affinity.size(0))),
        groups_(static_cast<size_t>(groups)),
        group_(neurons_, -1),
        pull_(neurons_ * groups_, 0) {}

  std::vector<int64_t> made() {
    for (size_t e = 0; e < groups_; ++e) grow(e);
    for (int pass = 0; pass < kSwapPasses; ++pass)
      if (!improved()) break;
    return group_;
  }

 private:
  double between(size_t a, size_t b) const {
    return affinity_.const_data_ptr<double>()[a * neurons_ + b];
  }
  double& pull(size_t neuron, size_t group) { return pull_[neuron * groups_ + group]; }

  void put(size_t neuron, size_t group) {
    group_[neuron] = static_cast<int64_t>(group);
    for (size_t other = 0; other < neurons_; ++other) pull(other, group) += between(other, neuron);
  }
  void take(size_t neuron) {
    const auto group = static_cast<size_t>(group_[neuron]);
    for (size_t other = 0; other < neurons_; ++other) pull(other, group) -= between(other, neuron);
  }
  /// Starts from the neuron with the most affinity to the free ones, then adds the neuron with the
  /// most affinity to the group.
  void grow(size_t group) {
    for (size_t member = 0; member < neurons_ / groups_; ++member) {
      size_t best = neurons_;
      double highest = -std::numeric_limits<double>::infinity();
      for (size_t neuron = 0; neuron < neurons_; ++neuron) {
        if (group_[neuron] >= 0) continue;
        const double value = member == 0 ? to_free(neuron) : pull(neuron, group);
        if (value > highest) {
          highest = value;
          best = neuron;
        }
      }
      put(best, group);
    }
  }
  double to_free(size_t neuron) const {
    double sum = 0;
    for (size_t other = 0; other < neurons_; ++other)
      if (group_[other] < 0) sum += between(neuron, other);
    return sum;
  }
  /// One pass over all pairs; whether anything was swapped.
  bool improved() {
    bool any = false;
    for (size_t a = 0; a < neurons_; ++a)
      for (size_t b = a + 1; b < neurons_; ++b) {
        const auto left = static_cast<size_t>(group_[a]), right = static_cast<size_t>(group_[b]);
        if (left == right) continue;
        const double gain =
            pull(a, right) - pull(a, left) + pull(b, left) - pull(b, right) - 2 * between(a, b);
        if (gain <= 1e-9) continue;
        take(a);
        take(b);
        put(a, right);
        put(b, left);
        any = true;
      }
    return any;
  }

  torch::Tensor affinity_;
  size_t neurons_, groups_;
  std::vector<int64_t> group_;
  std::vector<double> pull_;  // affinity of every neuron to the members of every group
};

}  // namespace

torch::Tensor random_groups(int64_t neurons, uint64_t seed) {
  return torch::randperm(neurons, at::detail::createCPUGenerator(seed), torch::kLong);
}

torch::Tensor clustered_groups(const torch::Tensor& up, int64_t groups, uint64_t seed) {
  const auto wide = up.detach().to(torch::kDouble);
  const auto rows = wide / wide.norm(2, 1, /*keepdim=*/true).clamp_min(1e-12);
  auto centres = rows.index_select(0, random_groups(rows.size(0), seed).slice(0, 0, groups));
  double lowest = std::numeric_limits<double>::infinity();
  std::vector<int64_t> best;
  for (int round = 0; round < kRounds; ++round) {
    const auto distance = torch::cdist(rows, centres).square();  // [F, E]
    const auto group = balanced(distance);
    centres = group_means(rows, group, groups);
    const auto own = centres.index_select(0, torch::tensor(group, torch::kLong));
    const double inertia = (rows - own).square().sum().item<double>();
    if (inertia >= lowest) continue;
    lowest = inertia;
    best = group;
  }
  return in_order(best);
}

torch::Tensor coactive_groups(const torch::Tensor& hidden, int64_t groups) {
  const auto wide = hidden.detach().to(torch::kDouble);
  auto affinity = wide.t().matmul(wide).contiguous();  // [F, F]
  affinity.fill_diagonal_(0);
  affinity.div_(affinity.mean().clamp_min(1e-30));
  return in_order(Partition(affinity, groups).made());
}

namespace {

constexpr int kEpochs = 30;
constexpr int64_t kBatch = 512;
constexpr double kLearningRate = 0.01;

/// The network while it trains.
class Trained : public models::Module {
 public:
  explicit Trained(const torch::Tensor& centres)
      : first(
            register_parameter("first", centres.sizes(), models::Constant{}, models::Role::matrix)),
        second(register_parameter("second", {centres.size(0), centres.size(0)}, models::Constant{},
                                  models::Role::matrix)) {
    first.detach().copy_(centres);
    second.detach().fill_diagonal_(1);
    to(centres.device());
  }

  torch::Tensor first, second;
};

void train_epoch(Trained& network, training::Optimizer& optimizer, const torch::Tensor& x,
                 const torch::Tensor& target) {
  const torch::AutoGradMode on(true);
  for (int64_t begin = 0; begin < x.size(0); begin += kBatch) {
    const int64_t end = std::min(x.size(0), begin + kBatch);
    torch::binary_cross_entropy_with_logits(
        models::predicted_activation(x.slice(0, begin, end), network.first, network.second),
        target.slice(0, begin, end))
        .backward();
    optimizer.step(kLearningRate);
    optimizer.clear_gradients();
  }
}

}  // namespace

torch::Tensor RouterNetwork::scores(const models::RouterOptions& kind, const torch::Tensor& x,
                                    const torch::Tensor& mass) const {
  if (std::holds_alternative<models::OracleRouter>(kind)) return mass;
  if (std::holds_alternative<models::NetworkRouter>(kind))
    return models::predicted_activation(x, first, second);
  return models::centre_similarity(x, centres);
}

double captured_mass(const torch::Tensor& scores, const torch::Tensor& mass, int64_t active) {
  const auto chosen = mass.gather(1, std::get<1>(scores.topk(active, 1))).sum();
  return (chosen / mass.sum().clamp_min(1e-30)).item<double>();
}

RouterNetwork fit_router(const RouterTask& task) {
  const torch::NoGradGuard no_grad;
  const auto rows = task.up / task.up.norm(2, -1, /*keepdim=*/true).clamp_min(1e-12);
  RouterNetwork result{.centres = rows.mean(1), .first = {}, .second = {}};
  const auto order =
      torch::randperm(task.x.size(0), at::detail::createCPUGenerator(task.seed), torch::kLong)
          .to(task.x.device());
  const auto x = task.x.index_select(0, order);
  const auto mass = models::expert_activation(x, task.up, task.up_bias);
  const auto target = mass / mass.amax(1, /*keepdim=*/true).clamp_min(1e-12);
  const int64_t trained = std::max<int64_t>(1, x.size(0) * 9 / 10);
  Trained network(result.centres);
  const auto optimizer =
      training::make_optimizer(training::Adam{.beta2 = 0.999, .epsilon = 1e-8}, network);
  double best = -1;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    train_epoch(network, *optimizer, x.slice(0, 0, trained), target.slice(0, 0, trained));
    const double held_out = captured_mass(
        models::predicted_activation(x.slice(0, trained), network.first, network.second),
        mass.slice(0, trained), task.active);
    if (held_out <= best) continue;
    best = held_out;
    result.first = network.first.detach().clone();
    result.second = network.second.detach().clone();
  }
  return result;
}

}  // namespace ablate::run
