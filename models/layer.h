#pragma once

#include <memory>
#include <optional>

#include "models/attention.h"
#include "models/feed_forward.h"
#include "models/libtorch.h"
#include "models/mixer.h"
#include "models/residual.h"

namespace ablate::models {

/// The encoder's output as the decoder sees it. // output [B, S, D], real [B, S]
struct Memory {
  torch::Tensor output, real;
};

/// What one layer keeps between steps.
struct LayerCache {
  KVCache past, memory;
};

/// A mixer of positions, attention over a memory, and a feed-forward, each where the stack has one
/// and each in its place in the residual stream.
class LayerImpl : public torch::nn::Module {
 public:
  /// `index` counts the layers of the stack from 0 on.
  LayerImpl(const StackOptions& options, int64_t index);

  /// `memory` is null where the stack has no cross-attention. Padding at the end of a causal
  /// stack's rows needs no mask: nothing real looks at it. // [B, T, D] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x, const Memory* memory,
                        const ops::AttentionPosition& position, const Pass& pass);
  /// `like` [B, T, D] gives batch, type and device.
  LayerCache start(const torch::Tensor& like, const Memory* memory);
  /// `memory_real` has a row for each row of the memory. // [B, T, D] -> [B, T, D]
  torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const torch::Tensor& memory_real,
                     const ops::AttentionPosition& position, const Pass& pass);

 private:
  template <class Mix, class Cross>
  torch::Tensor through(torch::Tensor x, const Pass& pass, Mix&& mix, Cross&& cross);

  bool causal_;
  std::shared_ptr<Mixer> attention_;
  CrossAttention cross_attention_{nullptr};
  std::shared_ptr<FeedForward> feed_forward_;
  std::optional<Connection> around_attention_, around_cross_attention_, around_feed_forward_;
};
TORCH_MODULE(Layer);

}  // namespace ablate::models
