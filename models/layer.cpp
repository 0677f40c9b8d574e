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
torch::Tensor LayerImpl::through(torch::Tensor x, const Pass& pass, Mix&& mix, Cross&& cross) {
  if (around_attention_) x = (*around_attention_)(x, pass, mix);
  if (around_cross_attention_) x = (*around_cross_attention_)(x, pass, cross);
  if (around_feed_forward_)
    x = (*around_feed_forward_)(x, pass,
                                [&](const auto& y) { return feed_forward_->forward(y, pass); });
  return x;
}

torch::Tensor LayerImpl::forward(const torch::Tensor& x, const Memory* memory,
                                 const ops::AttentionPosition& position, const Pass& pass) {
  const auto real = causal_ ? torch::Tensor() : pass.real;
  return through(
      x, pass, [&](const auto& y) { return attention_->forward(y, real, position, pass.recorded); },
      [&](const auto& y) {
        return cross_attention_(y, memory->output, memory->real, pass.recorded);
      });
}

LayerCache LayerImpl::start(const torch::Tensor& like, const Memory* memory) {
  return {.past = attention_ ? attention_->empty_cache(like) : KVCache(),
          .memory = cross_attention_ ? cross_attention_->project(memory->output) : KVCache()};
}

torch::Tensor LayerImpl::step(const torch::Tensor& x, LayerCache& cache,
                              const torch::Tensor& memory_real,
                              const ops::AttentionPosition& position, const Pass& pass) {
  return through(
      x, pass, [&](const auto& y) { return attention_->step(y, cache.past, position); },
      [&](const auto& y) {
        return cross_attention_->step(y, cache.memory, memory_real, pass.recorded);
      });
}

}  // namespace ablate::models
