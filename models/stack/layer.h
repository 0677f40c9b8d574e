#pragma once

#include <memory>
#include <optional>

#include "models/attention/attention.h"
#include "models/feed_forward/feed_forward.h"
#include "models/libtorch.h"
#include "models/mixer.h"
#include "models/residual.h"
#include "models/stack/ngram_memory.h"
#include "models/stack_output.h"

namespace ablate::models {

/// The state of one layer between decoding steps.
struct LayerCache {
  KVCache self_attention, cross_attention, feed_forward, ngrams;

  std::array<KVCache*, 4> parts() {
    return {&self_attention, &cross_attention, &feed_forward, &ngrams};
  }
};

/// The inputs of a layer beside x.
struct LayerPass {
  const ops::AttentionPosition& position;
  const StackOutput* memory = nullptr;  // null: no cross-attention, or the cache has its keys
  LayerCache* cache = nullptr;          // whose sequences x continues; null: x is the whole of them
  torch::Tensor memory_mask = {};       // of the rows of the memory in the cache // [M, S]
};

/// A mixer of positions, attention over a memory, and a feed-forward, each optional and with its
/// residual connection, perhaps behind a memory of n-grams. In a parallel block the first of them
/// has the norm of the input that all read, unless each has its own.
class LayerImpl : public Module {
 public:
  /// `index` counts the layers of the stack from 0 on. `feed_forward` belongs to another layer,
  /// which owns it; null: the layer makes its own.
  LayerImpl(const StackOptions& stack, int64_t index,
            std::shared_ptr<FeedForward> feed_forward = nullptr);

  /// Padding at the end of a causal stack's rows needs no mask, since no token attends to it.
  /// // [B, T, D]
  RoutedOutput forward(torch::Tensor x, const LayerPass& pass, const ForwardContext& context);
  /// `like` [B, T, D] gives batch, type and device.
  LayerCache init_cache(const torch::Tensor& like, const StackOutput* memory);
  const std::shared_ptr<FeedForward>& feed_forward() const { return feed_forward_; }

 private:
  torch::Tensor mixed(const torch::Tensor& x, const LayerPass& pass, ForwardContext context);
  RoutedOutput fed_forward(const torch::Tensor& x, const LayerPass& pass, ForwardContext context);

  bool causal_, owns_feed_forward_;
  Block block_;
  std::shared_ptr<Mixer> attention_;
  CrossAttention cross_attention_{nullptr};
  NgramMemory ngrams_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  ShortConvolution attention_canon_{nullptr}, feed_forward_canon_{nullptr};  // on their inputs
  std::optional<ResidualConnection> around_attention_, around_cross_attention_,
      around_feed_forward_;
};
TORCH_MODULE(Layer);

}  // namespace ablate::models
