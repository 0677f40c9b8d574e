#include "models/ops/positions.h"

#include <ATen/ops/_unique2.h>

#include <bit>

#include "models/ops/backend.h"

namespace ablate::models::ops {

Distances distances(const torch::Tensor& query, const torch::Tensor& key, int64_t id_range) {
  const auto between = query.unsqueeze(1) - key.unsqueeze(0);  // [T, S]
  if (!computes_elsewhere(between)) {
    const auto [values, which, counts] =
        at::_unique2(between, /*sorted=*/false, /*inverse=*/true, false);
    return {values, which};
  }
  // All that there may be, for the host would have to wait for how many there are.
  const auto type = between.options();
  if (id_range == 0) {
    const auto least = query[0] - key[-1];
    return {torch::arange(query.size(0) + key.size(0) - 1, type) + least, between - least};
  }
  if (2 * id_range <= between.numel())
    return {torch::arange(1 - id_range, id_range, type), between + (id_range - 1)};
  return {between.flatten(), torch::arange(between.numel(), type).view_as(between)};
}

torch::Tensor KeptTable::rows(const torch::Tensor& numbers, int64_t length,
                              const Compute& compute) {
  if (!computes_elsewhere(numbers)) return compute(numbers);
  const std::lock_guard lock(mutex_);
  if (tables_.empty() || tables_.back().size(0) < length ||
      tables_.back().device() != numbers.device()) {
    const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(length)));
    tables_.push_back(compute(torch::arange(size, numbers.options())).to(torch::kFloat));
  }
  return tables_.back().index_select(0, numbers);
}

torch::Tensor rotate(const torch::Tensor& x, const Rotation& rotation) {
  if (!rotation.cosine.defined()) return x;
  const auto type = x.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  const auto cosine = rotation.cosine.to(type), sine = rotation.sine.to(type);  // [T, R]
  const int64_t pairs = cosine.size(-1);
  const auto turned = x.narrow(-1, 0, 2 * pairs).to(type);
  // [B, H, T, R, 2] or [B, H, T, 2, R]
  const auto split =
      rotation.interleaved ? turned.unflatten(-1, {pairs, 2}) : turned.unflatten(-1, {2, pairs});
  const int64_t axis = rotation.interleaved ? -1 : -2;
  const auto first = split.select(axis, 0), second = split.select(axis, 1);
  const auto both =
      torch::stack({first * cosine - second * sine, second * cosine + first * sine}, axis)
          .flatten(-2)
          .to(x.scalar_type());
  if (2 * pairs == x.size(-1)) return both;
  return torch::cat({both, x.narrow(-1, 2 * pairs, x.size(-1) - 2 * pairs)}, -1);
}

}  // namespace ablate::models::ops
