#include "models/ops/positions.h"

#include <ATen/ops/_unique2.h>

#include <array>
#include <bit>

#include "models/ops/backend.h"
#include "models/ops/elementwise.h"

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
    tables_.push_back(to_device(compute(torch::arange(size)).to(torch::kFloat), numbers.device()));
  }
  return tables_.back().index_select(0, numbers);
}

namespace {

/// The first and the second numbers of all pairs. // [..., K] -> [..., R] twice
std::array<torch::Tensor, 2> halves(const torch::Tensor& x, const Rotation& rotation) {
  const int64_t pairs = rotation.cosine.size(-1), axis = rotation.interleaved ? -1 : -2;
  const auto turned = x.narrow(-1, 0, 2 * pairs);
  // [..., R, 2] or [..., 2, R]
  const auto split =
      rotation.interleaved ? turned.unflatten(-1, {pairs, 2}) : turned.unflatten(-1, {2, pairs});
  return {split.select(axis, 0), split.select(axis, 1)};
}

/// x turned forwards or, with the sign -1, backwards: four launches, one for a cast, and one if
/// some dimensions are not turned.
torch::Tensor turn(const torch::Tensor& x, const Rotation& rotation, double sign) {
  auto y = torch::empty_like(x, wide_type(x));
  const auto& [cosine, sine, interleaved] = rotation;
  const auto [a, b] = halves(x, rotation);
  auto [first, second] = halves(y, rotation);
  torch::mul_out(first, a, cosine).addcmul_(b, sine, -sign);
  torch::mul_out(second, b, cosine).addcmul_(a, sine, sign);
  const int64_t turned = 2 * cosine.size(-1), rest = x.size(-1) - turned;
  if (rest > 0) y.narrow(-1, turned, rest).copy_(x.narrow(-1, turned, rest));
  return y.to(x.scalar_type());
}

struct Rotate : torch::autograd::Function<Rotate> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const Rotation& rotation) {
    context->save_for_backward({rotation.cosine, rotation.sine});
    context->saved_data["interleaved"] = rotation.interleaved;
    return turn(x, rotation, 1);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    refuse_second_derivative("rotary positions");
    const auto saved = context->get_saved_variables();
    const bool interleaved = context->saved_data["interleaved"].toBool();
    return {turn(gradients[0], {saved[0], saved[1], interleaved}, -1), {}};
  }
};

}  // namespace

torch::Tensor rotate(const torch::Tensor& x, const Rotation& rotation) {
  if (!rotation.cosine.defined()) return x;
  if (computes_elsewhere(x)) return Rotate::apply(x, rotation);
  const auto type = wide_type(x);
  const auto cosine = rotation.cosine.to(type), sine = rotation.sine.to(type);  // [T, R]
  const int64_t turned = 2 * cosine.size(-1), rest = x.size(-1) - turned;
  const auto [first, second] = halves(x.narrow(-1, 0, turned).to(type), rotation);
  const auto both = torch::stack({first * cosine - second * sine, second * cosine + first * sine},
                                 rotation.interleaved ? -1 : -2)
                        .flatten(-2)
                        .to(x.scalar_type());
  return rest == 0 ? both : torch::cat({both, x.narrow(-1, turned, rest)}, -1);
}

}  // namespace ablate::models::ops
