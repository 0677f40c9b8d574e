#include "models/ops/distances.h"

#include <ATen/ops/_unique2.h>

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

}  // namespace ablate::models::ops
