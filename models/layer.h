#pragma once

#include <torch/torch.h>

#include "models/attention.h"
#include "models/feed_forward.h"
#include "models/residual.h"

namespace ablate::models {

/// Self-attention and feed-forward, each in its place in the residual stream.
class EncoderLayerImpl : public torch::nn::Module {
 public:
  explicit EncoderLayerImpl(const TransformerOptions& options);

  /// [B, S, D], [B, S] -> [B, S, D]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& real,
                        const AttentionPosition& position, Dropout& dropout);

 private:
  NormPlacement placement_;
  SelfAttention attention_;
  Norm attention_norm_;
  FeedForward feed_forward_;
  Norm feed_forward_norm_;
};
TORCH_MODULE(EncoderLayer);

/// The encoder's output as the decoder sees it. // output [B, S, D], real [B, S]
struct Memory {
  torch::Tensor output, real;
};

/// What one decoder layer keeps between steps.
struct LayerCache {
  KeyValue past, memory;
};

/// Causal self-attention, attention over the encoder's output, and feed-forward.
class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const TransformerOptions& options);

  torch::Tensor forward(const torch::Tensor& x, const Memory& memory,
                        const AttentionPosition& position, Dropout& dropout);  // [B, T, D]
  LayerCache start(const Memory& memory);
  torch::Tensor step(const torch::Tensor& x, LayerCache& cache, const torch::Tensor& real,
                     const AttentionPosition& position);  // [B, 1, D]

 private:
  NormPlacement placement_;
  SelfAttention attention_;
  Norm attention_norm_;
  CrossAttention cross_attention_;
  Norm cross_attention_norm_;
  FeedForward feed_forward_;
  Norm feed_forward_norm_;
};
TORCH_MODULE(DecoderLayer);

}  // namespace ablate::models
