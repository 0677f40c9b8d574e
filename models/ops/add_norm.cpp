#include "models/ops/add_norm.h"

#include <ATen/ops/native_dropout_backward.h>

#include "models/generator.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops {
namespace {

/// x + dropout(branch): one operator draws the mask, one applies it and adds, and one applies it to
/// the gradient.
struct AddDropped : torch::autograd::Function<AddDropped> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& branch, const DropoutStream& stream) {
    const double kept = 1 - stream.rate;
    const auto mask = torch::empty(x.sizes(), x.options().dtype(torch::kBool))
                          .bernoulli_(kept, seeded_generator(stream.seed, x.device()));
    context->save_for_backward({mask});
    context->saved_data["scale"] = 1 / kept;
    return torch::addcmul(x, branch, mask, 1 / kept);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    return {gradients[0],
            at::native_dropout_backward(gradients[0], context->get_saved_variables()[0],
                                        context->saved_data["scale"].toDouble()),
            torch::Tensor()};
  }
};

}  // namespace

torch::Tensor add_dropout(const torch::Tensor& x, const torch::Tensor& branch,
                          const DropoutStream& stream) {
  if (stream.rate > 0 && computes_elsewhere(x)) return AddDropped::apply(x, branch, stream);
  return x + dropout(branch, stream);
}

torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream) {
  if constexpr (kHasKernels)
    if (norm.bias.defined() && trains_on_cpu(x) && norm.weight.scalar_type() == torch::kFloat)
      return cpu::add_norm(x, branch, norm, stream);
  const auto type = x.scalar_type();
  return torch::layer_norm(add_dropout(x, branch, stream), {norm.weight.size(0)},
                           norm.weight.to(type),
                           norm.bias.defined() ? norm.bias.to(type) : norm.bias, norm.epsilon);
}

}  // namespace ablate::models::ops
