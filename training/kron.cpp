#include <ATen/ops/linalg_solve_triangular.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "models/generator.h"
#include "models/random.h"
#include "training/optimizer_rules.h"

namespace ablate::training {
namespace {

constexpr double kMostRms = 1.1;  // of a step; white gradients have 1
constexpr double kBalanceEvery = 100;
const double kDamping = std::sqrt(std::numeric_limits<float>::epsilon());
constexpr double kTiny = std::numeric_limits<float>::min();

/// A lower bound of the spectral norm of a symmetric matrix, by its largest column.
/// // [N, N] -> []
torch::Tensor spectral_bound(const torch::Tensor& matrix) {
  const auto largest = matrix.abs().max().clamp_min(kTiny);
  const auto scaled = matrix / largest;
  const auto column = scaled.square().sum(0).argmax().unsqueeze(0);
  const auto image = scaled.mv(scaled.index_select(1, column).squeeze(1));  // [N]
  return scaled.mv(image / image.norm().clamp_min(kTiny)).norm() * largest;
}

/// One step of a factor towards products of white gradients that equal those of the probe.
/// // [N, N] each
void follow(const torch::Tensor& factor, const torch::Tensor& white, const torch::Tensor& probe,
            const torch::Tensor& rate) {
  const auto bound = spectral_bound(white + probe).clamp_min(kTiny);
  factor.sub_(((white - probe) * rate).triu().div_(bound).mm(factor));
}

/// One map, as views into the tensors of its parameter.
struct KronMap {
  torch::Tensor parameter, left, right;  // [R, C], [R, R], [C, C]

  void start() const {
    left.fill_diagonal_(1);
    right.fill_diagonal_(1);
  }

  void balance() const {
    const auto rows = left.abs().max(), columns = right.abs().max();
    const auto mean = (rows * columns).sqrt();
    left.mul_(mean / rows);
    right.mul_(mean / columns);
  }

  /// Adds a little of the probe to the mean, too. A mean of zeros changes nothing.
  void correct(torch::Tensor& mean, uint64_t seed, double rate) const {
    const auto probe =
        torch::empty_like(mean).normal_(0, 1, models::seeded_generator(seed, mean.device()));
    const auto step = mean.any().to(mean.scalar_type()) * rate;  // read on the device // []
    mean.add_(probe * (mean.abs().mean() * kDamping));
    const auto white = left.mm(mean).mm(right.t());
    const auto solved = at::linalg_solve_triangular(left.t(), probe, /*upper=*/false);  // [R, C]
    const auto noise = at::linalg_solve_triangular(right, solved, /*upper=*/true, /*left=*/false);
    follow(left, white.mm(white.t()), noise.mm(noise.t()), step);
    follow(right, white.t().mm(white), noise.t().mm(noise), step);
  }

  void move(const Kron& o, const torch::Tensor& mean, Step step) const {
    const auto direction = left.t().mm(left).mm(mean).mm(right.t()).mm(right);
    const auto rms = direction.square().mean().sqrt() + 1e-12;
    direction.mul_((kMostRms / rms).clamp_max(1));
    decay({parameter}, {direction}, step.lost(o.weight_decay), o.cautious_decay);
    parameter.add_(direction, -step.learning_rate);
  }
};

}  // namespace

void Rule<Kron>::update(const Kron& o, Step step, Group<4>& group) {
  uint64_t index = 0;  // of a map
  for (size_t i = 0; i < group.parameters.size(); ++i) {
    const auto number = group.kept[3][i].add_(1).item<double>();
    const bool corrects = number <= static_cast<double>(o.precondition_start) ||
                          std::fmod(number, static_cast<double>(o.precondition_frequency)) == 0;
    for (const auto& [parameter, gradient, parts] : maps_of(group, i, kept)) {
      const auto& [momentum, left, right, count] = parts;
      const KronMap map{parameter, left, right};
      if (number == 1) map.start();
      if (std::fmod(number, kBalanceEvery) == 0) map.balance();
      const uint64_t seed = models::derive_seed(static_cast<uint64_t>(number), "kron", index++);
      momentum.lerp_(gradient, 1 - o.beta1);
      auto mean = momentum / (1 - std::pow(o.beta1, number));
      if (corrects) map.correct(mean, seed, o.precondition_rate);
      map.move(o, mean, step);
    }
  }
}

}  // namespace ablate::training
