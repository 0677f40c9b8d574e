#include "models/layer.h"

namespace ablate::models {

LayerImpl::LayerImpl(const StackOptions& options, int64_t index) : causal_(options.causal) {
  if ((attention_ = make_mixer(options))) {
    register_module("attention", attention_);
    around_attention_.emplace(*this, "attention", options);
  }
  if (options.cross_attention) {
    cross_attention_ =
        register_module("cross_attention", CrossAttention(*options.cross_attention, options));
    around_cross_attention_.emplace(*this, "cross_attention", options);
  }
  if ((feed_forward_ = make_feed_forward(options, index))) {
    register_module("feed_forward", feed_forward_);
    around_feed_forward_.emplace(*this, "feed_forward", options);
  }
}

template <class Mix, class Cross>
RoutedOutput LayerImpl::through(torch::Tensor x, const ForwardContext& context, Mix&& mix,
                                Cross&& cross) {
  if (around_attention_) x = (*around_attention_)(x, context, mix);
  if (around_cross_attention_) x = (*around_cross_attention_)(x, context, cross);
  if (!around_feed_forward_) return {.output = x, .routing = {}};
  RoutedOutput branch;
  x = (*around_feed_forward_)(x, context, [&](const auto& y) {
    branch = feed_forward_->forward(y, context);
    return branch.output;
  });
  return {.output = x, .routing = std::move(branch.routing)};
}

RoutedOutput LayerImpl::forward(const torch::Tensor& x, const StackOutput* memory,
                                const ops::AttentionPosition& position,
                                const ForwardContext& context) {
  const auto mask = causal_ ? torch::Tensor() : context.padding_mask;
  return through(
      x, context,
      [&](const auto& y) { return attention_->forward(y, mask, position, context.observer); },
      [&](const auto& y) {
        return cross_attention_(y, memory->output, memory->padding_mask, context.observer);
      });
}

LayerCache LayerImpl::init_cache(const torch::Tensor& like, const StackOutput* memory) {
  return {
      .self_attention = attention_ ? attention_->empty_cache(like) : KVCache(),
      .cross_attention = cross_attention_ ? cross_attention_->project(memory->output) : KVCache()};
}

torch::Tensor LayerImpl::step(const torch::Tensor& x, LayerCache& cache,
                              const torch::Tensor& memory_mask,
                              const ops::AttentionPosition& position,
                              const ForwardContext& context) {
  return through(
             x, context,
             [&](const auto& y) { return attention_->step(y, cache.self_attention, position); },
             [&](const auto& y) {
               return cross_attention_->step(y, cache.cross_attention, memory_mask,
                                             context.observer);
             })
      .output;
}

}  // namespace ablate::models
