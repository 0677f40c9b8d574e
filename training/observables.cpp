#include "training/observables.h"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/special_entr.h>

#include <limits>

namespace ablate::training {
namespace {

/// The mean of each head over the queries that count. // [B, H, T], [B, 1 or H, T] -> H
std::vector<double> head_means(const torch::Tensor& x, const torch::Tensor& counted) {
  const auto mask = counted.expand_as(x);
  const auto sums = x.to(torch::kDouble).masked_fill(mask.logical_not(), 0.0).sum({0, 2});
  const auto means = (sums / mask.sum({0, 2})).cpu().contiguous();  // [H]
  return {means.const_data_ptr<double>(), means.const_data_ptr<double>() + means.numel()};
}

}  // namespace

std::vector<double> attention_entropy(const torch::Tensor& weights, const torch::Tensor& counted) {
  const auto wide = weights.to(torch::promoteTypes(weights.scalar_type(), torch::kFloat));
  const auto sums = wide.sum(-1, /*keepdim=*/true, torch::kDouble);  // [B, H, T, 1]
  const auto attends = sums.gt(0);
  const auto shares = wide / sums.masked_fill(attends.logical_not(), 1.0).to(wide.scalar_type());
  const auto entropy = at::special_entr(shares).sum(-1, /*keepdim=*/false, torch::kDouble);
  return head_means(entropy, attends.squeeze(-1).logical_and(counted.unsqueeze(1)));
}

std::vector<double> attention_sink(const torch::Tensor& weights, const torch::Tensor& counted) {
  return head_means(weights.select(-1, 0), counted.unsqueeze(1));
}

double rank_residual(const torch::Tensor& x, const torch::Tensor& padding_mask) {
  const auto padding = padding_mask.logical_not().unsqueeze(-1);  // [B, T, 1]
  const auto count = padding_mask.sum(1);                         // [B]
  const auto rows = x.to(torch::kDouble).masked_fill(padding, 0.0);
  const auto mean = rows.sum(1, /*keepdim=*/true) / count.view({-1, 1, 1});  // [B, 1, D]
  const auto apart = (rows - mean).masked_fill(padding, 0.0);
  const auto norm = [](const torch::Tensor& matrices) {
    return at::linalg_vector_norm(matrices, 2, at::IntArrayRef{1, 2});
  };
  return (norm(apart) / norm(rows)).masked_select(count.gt(1)).mean().item<double>();
}

double active_neurons(const torch::Tensor& hidden) {
  return static_cast<double>(hidden.count_nonzero().item<int64_t>()) /
         static_cast<double>(hidden.numel());
}

double GradientNoise::scale() const {
  return square > 0 ? variance / square : std::numeric_limits<double>::infinity();
}

GradientNoise gradient_noise(const GradientSize& small, const GradientSize& big) {
  return {.square =
              (big.tokens * big.square - small.tokens * small.square) / (big.tokens - small.tokens),
          .variance = (small.square - big.square) / (1 / small.tokens - 1 / big.tokens)};
}

}  // namespace ablate::training
