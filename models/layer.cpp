#include "models/layer.h"

namespace ablate::models {
namespace {

FeedForward make_feed_forward(const TransformerOptions& options) {
  return std::visit([&](const auto& chosen) { return FeedForward(chosen, options.d_model); },
                    options.feed_forward);
}

}  // namespace

EncoderLayerImpl::EncoderLayerImpl(const TransformerOptions& options)
    : placement_(options.norm.placement),
      attention_(register_module("attention", SelfAttention(options.attention, options.d_model))),
      attention_norm_(register_module("attention_norm", Norm(options.d_model))),
      feed_forward_(register_module("feed_forward", make_feed_forward(options))),
      feed_forward_norm_(register_module("feed_forward_norm", Norm(options.d_model))) {}

torch::Tensor EncoderLayerImpl::forward(const torch::Tensor& x, const torch::Tensor& real,
                                        const AttentionPosition& position, Dropout& dropout) {
  const auto attended = residual(x, attention_norm_, placement_, dropout, [&](const auto& y) {
    return attention_(y, real, position, false);
  });
  return residual(attended, feed_forward_norm_, placement_, dropout,
                  [&](const auto& y) { return feed_forward_(y); });
}

DecoderLayerImpl::DecoderLayerImpl(const TransformerOptions& options)
    : placement_(options.norm.placement),
      attention_(register_module("attention", SelfAttention(options.attention, options.d_model))),
      attention_norm_(register_module("attention_norm", Norm(options.d_model))),
      cross_attention_(
          register_module("cross_attention", CrossAttention(options.attention, options.d_model))),
      cross_attention_norm_(register_module("cross_attention_norm", Norm(options.d_model))),
      feed_forward_(register_module("feed_forward", make_feed_forward(options))),
      feed_forward_norm_(register_module("feed_forward_norm", Norm(options.d_model))) {}

torch::Tensor DecoderLayerImpl::forward(const torch::Tensor& x, const Memory& memory,
                                        const AttentionPosition& position, Dropout& dropout) {
  // Targets are padded on the right, so the causal mask alone keeps padding from real positions.
  const auto attended = residual(x, attention_norm_, placement_, dropout, [&](const auto& y) {
    return attention_(y, torch::Tensor(), position, true);
  });
  const auto crossed =
      residual(attended, cross_attention_norm_, placement_, dropout,
               [&](const auto& y) { return cross_attention_(y, memory.output, memory.real); });
  return residual(crossed, feed_forward_norm_, placement_, dropout,
                  [&](const auto& y) { return feed_forward_(y); });
}

LayerCache DecoderLayerImpl::start(const Memory& memory) {
  return {attention_->nothing(memory.output), cross_attention_->project(memory.output)};
}

torch::Tensor DecoderLayerImpl::step(const torch::Tensor& x, LayerCache& cache,
                                     const torch::Tensor& real, const AttentionPosition& position) {
  Dropout none;
  const auto attended = residual(x, attention_norm_, placement_, none, [&](const auto& y) {
    return attention_->step(y, cache.past, position);
  });
  const auto crossed =
      residual(attended, cross_attention_norm_, placement_, none,
               [&](const auto& y) { return cross_attention_->step(y, cache.memory, real); });
  return residual(crossed, feed_forward_norm_, placement_, none,
                  [&](const auto& y) { return feed_forward_(y); });
}

}  // namespace ablate::models
