#include "experiments/run/moefication/router_network.h"

#include <ATen/CPUGeneratorImpl.h>

#include "training/optimizer.h"

namespace ablate::run {
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
