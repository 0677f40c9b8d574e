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

FeedForwardImpl::FeedForwardImpl(const DenseFeedForward& options, int64_t d_model)
    : activation_(options.activation),
      up_(register_module("up", Linear(d_model, std::vector{options.d_hidden}))),
      down_(register_module("down", Linear(options.d_hidden, std::vector{d_model}))) {}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x) {
  return down_(activate(activation_, up_(x)));
}

}  // namespace ablate::models
