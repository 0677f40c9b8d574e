#include "models/feed_forward.h"

#include "models/mixture.h"
#include "models/ops/hidden_layer.h"

namespace ablate::models {
namespace {

struct FeedForwardMaker {
  const StackOptions& stack;
  std::shared_ptr<FeedForward> operator()(const DenseFeedForward& options) const {
    return std::make_shared<Dense>(options, stack);
  }
  std::shared_ptr<FeedForward> operator()(const MixtureOptions& options) const {
    return std::make_shared<Mixture>(options, stack);
  }
  std::shared_ptr<FeedForward> operator()(const NoFeedForward&) const { return nullptr; }
};

/// Shows the unpadded positions to whoever watches. // [B, T, *] -> [N, *]
void show(const torch::Tensor& x, const ForwardContext& context,
          std::function<void(const torch::Tensor&)> Observer::*watcher) {
  if (context.observer == nullptr || !(context.observer->*watcher)) return;
  const auto flat = x.flatten(0, 1);
  const auto& mask = context.padding_mask;
  (context.observer->*watcher)(
      mask.defined() ? flat.index_select(0, mask.flatten().nonzero().squeeze(1)) : flat);
}

}  // namespace

KVCache FeedForward::empty_cache(const torch::Tensor&) const { return {}; }

torch::Tensor FeedForward::step(const torch::Tensor& x, KVCache&, const ForwardContext& context) {
  return forward(x, context).output;
}

std::shared_ptr<FeedForward> make_feed_forward(const FeedForwardOptions& options,
                                               const StackOptions& stack) {
  return std::visit(FeedForwardMaker{stack}, feed_forward_of(options));
}

Dense::Dense(const DenseFeedForward& options, const StackOptions& stack)
    : activation_(options.activation),
      gated_(options.gated),
      up_(register_module(
          "up", Linear(stack.d_model, std::vector<int64_t>(options.gated ? 2 : 1, options.d_hidden),
                       stack.bias))),
      down_(register_module("down", Linear(options.d_hidden, std::vector{stack.d_model}, stack.bias,
                                           InBranch::last))) {}

RoutedOutput Dense::forward(const torch::Tensor& x, const ForwardContext& context) {
  show(x, context, &Observer::feed_forward_input);
  const auto hidden = activation_ == Activation::relu && !gated_
                          ? ops::linear_relu(x, up_->weight, up_->bias)
                          : ops::hidden_layer(up_(x), activation_, gated_);
  show(hidden, context, &Observer::hidden_layer);
  return {.output = down_(hidden), .routing = {}};
}

}  // namespace ablate::models
