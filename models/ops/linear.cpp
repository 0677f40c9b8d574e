#include "models/ops/linear.h"

#include <ATen/ops/_addmm_activation.h>

#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/weight_casts.h"

namespace ablate::models::ops {
namespace {

std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype) {
  if constexpr (kHasKernels) return cpu::pack(weight, dtype);
  return round(weight, dtype);
}

struct LinearRelu : torch::autograd::Function<LinearRelu> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, const torch::Tensor& bias) {
    const auto y = at::_addmm_activation(bias, x, weight.t());
    context->save_for_backward({x, weight, y});
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto gradient = torch::threshold_backward(gradients[0], saved[2], 0);  // of the products
    const bool trained = context->needs_input_grad(1);
    return {gradient.mm(saved[1]), trained ? gradient.t().mm(saved[0]) : torch::Tensor(),
            gradient.sum(0)};
  }
};

torch::Tensor activate(Activation activation, const torch::Tensor& x) {
  torch::Tensor y;
  with_activation(activation, [&](auto held) { y = held.of(x); });
  return y;
}

class Bfloat16Matrix : public PackedMatrix {
 public:
  explicit Bfloat16Matrix(const torch::Tensor& weight) : weight_(to_bfloat16(weight)) {}
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    return torch::linear(to_bfloat16(x), weight_, bias);
  }

 private:
  torch::Tensor weight_;
};

}  // namespace

LinearWeight LinearWeight::prepacked(WeightDtype dtype) const {
  return {.dense = dense, .packed = pack(dense, dtype)};
}

torch::Tensor linear(const torch::Tensor& x, const LinearWeight& weight,
                     const torch::Tensor& bias) {
  if (weight.packed && infers_on_cpu(x)) return weight.packed->multiply(x.contiguous(), bias);
  const auto type = x.scalar_type();
  return torch::linear(x, weight_in(weight.dense, type),
                       bias.defined() ? weight_in(bias, type) : bias);
}

torch::Tensor linear_relu(const torch::Tensor& x, const LinearWeight& weight,
                          const torch::Tensor& bias) {
  if (!bias.defined() || !computes_elsewhere(x)) return torch::relu(linear(x, weight, bias));
  const auto type = x.scalar_type();
  auto sizes = x.sizes().vec();
  sizes.back() = -1;
  return LinearRelu::apply(x.flatten(0, -2), weight_in(weight.dense, type), weight_in(bias, type))
      .view(sizes);
}

torch::Tensor hidden_layer(const torch::Tensor& products, Activation activation, bool gated) {
  if (!gated) return activate(activation, products);
  const auto halves = products.chunk(2, -1);
  return activate(activation, halves[0]) * halves[1];
}

std::shared_ptr<const PackedMatrix> round(const torch::Tensor& weight, WeightDtype dtype) {
  const torch::NoGradGuard no_grad;
  const auto wide = weight.to(torch::kFloat);
  switch (dtype) {
    case WeightDtype::fp32:
      return nullptr;
    case WeightDtype::bf16:
      return std::make_shared<Bfloat16Matrix>(wide);
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

}  // namespace ablate::models::ops
