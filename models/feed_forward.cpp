#include "models/feed_forward.h"

namespace ablate::models {
namespace {

torch::Tensor activate(Activation activation, const torch::Tensor& x) {
  switch (activation) {
    case Activation::relu:
      return torch::relu(x);
    case Activation::gelu:
      return torch::gelu(x);
    case Activation::silu:
      return torch::silu(x);
  }
  TORCH_CHECK(false, "invalid Activation ", static_cast<int>(activation));
}

}  // namespace

FeedForwardImpl::FeedForwardImpl(const DenseFeedForward& options, const StackOptions& stack)
    : activation_(options.activation),
      gated_(options.gated),
      up_(register_module(
          "up", Linear(stack.d_model, std::vector<int64_t>(options.gated ? 2 : 1, options.d_hidden),
                       stack.bias))),
      down_(register_module("down",
                            Linear(options.d_hidden, std::vector{stack.d_model}, stack.bias))) {}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x) {
  const auto hidden = up_(x);  // [..., F] or [..., 2F]
  if (!gated_) return down_(activate(activation_, hidden));
  const auto halves = hidden.chunk(2, -1);
  return down_(activate(activation_, halves[0]) * halves[1]);
}

}  // namespace ablate::models
