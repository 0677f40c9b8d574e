#include "models/ops/rotation.h"

namespace ablate::models::ops {

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
