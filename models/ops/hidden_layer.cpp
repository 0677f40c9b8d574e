#include "models/ops/hidden_layer.h"

namespace ablate::models::ops {
namespace {

torch::Tensor activate(Activation activation, const torch::Tensor& x) {
  switch (activation) {
    case Activation::relu:
      return torch::relu(x);
    case Activation::gelu:
      return torch::gelu(x);
    case Activation::silu:
      return torch::silu(x);
    case Activation::relu2:
      return torch::relu(x).square();
    case Activation::sigmoid:
      return torch::sigmoid(x);
    case Activation::identity:
      return x;
  }
  TORCH_CHECK(false, "invalid Activation ", static_cast<int>(activation));
}

}  // namespace

torch::Tensor hidden_layer(const torch::Tensor& products, Activation activation, bool gated) {
  if (!gated) return activate(activation, products);
  const auto halves = products.chunk(2, -1);
  return activate(activation, halves[0]) * halves[1];
}

}  // namespace ablate::models::ops
