#include "models/ops/elementwise.h"

#include <ATen/ops/native_dropout_backward.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <cmath>

#include "models/generator.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/weight_casts.h"

namespace ablate::models::ops {
namespace {

/// cpu::drop_rows for any compiler.
torch::Tensor masked_rows(const torch::Tensor& x, const DropoutMask& mask) {
  const int64_t width = x.size(-1), rows = x.numel() / width;
  auto factors = torch::empty(x.sizes(), x.options().dtype(torch::kFloat));
  float* to = factors.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row) {
    const uint32_t key = mask.row_key(row);
    for (int64_t d = 0; d < width; ++d) *to++ = mask.factor(key, static_cast<uint32_t>(d));
  }
  return (x.to(torch::kFloat) * factors).to(x.scalar_type());
}

torch::Tensor drop_rows(const torch::Tensor& x, const DropoutStream& stream) {
  if constexpr (kHasKernels) return cpu::drop_rows(x, mask_of(stream));
  return masked_rows(x, mask_of(stream));
}

struct DropRows : torch::autograd::Function<DropRows> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const DropoutStream& stream) {
    context->saved_data["rate"] = stream.rate;
    context->saved_data["seed"] = static_cast<int64_t>(stream.noise.seed);
    return drop_rows(x.contiguous(), stream);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    refuse_second_derivative("dropout");
    const DropoutStream stream{
        .rate = context->saved_data["rate"].toDouble(),
        .noise = {.seed = static_cast<uint64_t>(context->saved_data["seed"].toInt())}};
    return {drop_rows(gradients[0].contiguous(), stream), torch::Tensor()};
  }
};

/// x + dropout(branch), or without x dropout(branch), by three launches on a GPU: one draws the
/// mask, one applies it and adds, and one applies it to the gradient.
struct DropDrawn : torch::autograd::Function<DropDrawn> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& branch,
                               const std::optional<torch::Tensor>& x, const DropoutStream& stream) {
    const double kept = 1 - stream.rate;
    const auto mask = noise_tensor({branch.sizes().vec(), branch.options().dtype(torch::kBool)},
                                   stream.noise, [kept](torch::Tensor& drawn, uint64_t seed) {
                                     drawn.bernoulli_(kept, seeded_generator(seed, drawn.device()));
                                   });
    context->save_for_backward({mask});
    context->saved_data["scale"] = 1 / kept;
    context->saved_data["adds"] = x.has_value();
    return x ? torch::addcmul(*x, branch, mask, 1 / kept)
             : at::native_dropout_backward(branch, mask, 1 / kept);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto of_branch = at::native_dropout_backward(
        gradients[0], context->get_saved_variables()[0], context->saved_data["scale"].toDouble());
    return {of_branch, context->saved_data["adds"].toBool() ? gradients[0] : torch::Tensor(),
            torch::Tensor()};
  }
};

}  // namespace

DropoutMask mask_of(const DropoutStream& stream) {
  return {.seed = stream.noise.seed,
          .threshold = static_cast<uint32_t>(std::lround(stream.rate * 4'294'967'295.0)),
          .scale = static_cast<float>(1.0 / (1.0 - stream.rate))};
}

torch::ScalarType wide_type(const torch::Tensor& x) {
  return torch::promoteTypes(x.scalar_type(), torch::kFloat);
}

torch::Tensor wide(const torch::Tensor& x) { return x.to(wide_type(x)); }

torch::Tensor dropout(const torch::Tensor& x, const DropoutStream& stream) {
  if (stream.rate == 0) return x;
  if (has_cpu_type(x) && !torch::jit::tracer::isTracing()) return DropRows::apply(x, stream);
  if (computes_elsewhere(x)) return DropDrawn::apply(x, std::nullopt, stream);
  const double kept = 1 - stream.rate;
  // In float, so that every element type drops the same elements and scales the others exactly.
  const auto mask = torch::empty_like(x, torch::kFloat)
                        .bernoulli_(kept, seeded_generator(stream.noise.seed, x.device()));
  return (x * mask / kept).to(x.scalar_type());
}

torch::Tensor add_dropout(const torch::Tensor& x, const torch::Tensor& branch,
                          const DropoutStream& stream) {
  if (stream.rate > 0 && computes_elsewhere(x)) return DropDrawn::apply(branch, x, stream);
  return x + dropout(branch, stream);
}

torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream) {
  if constexpr (kHasKernels)
    if (norm.bias.defined() && trains_on_cpu(x) && norm.weight.scalar_type() == torch::kFloat)
      return cpu::add_norm(x, branch, norm, stream);
  const auto type = x.scalar_type();
  return torch::layer_norm(
      add_dropout(x, branch, stream), {norm.weight.size(0)}, weight_in(norm.weight, type),
      norm.bias.defined() ? weight_in(norm.bias, type) : norm.bias, norm.epsilon);
}

}  // namespace ablate::models::ops
