#pragma once

#include "models/libtorch.h"
#include "models/linear.h"
#include "models/mixer.h"
#include "models/position/position.h"
#include "models/transformer_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, H heads, G heads of keys and values (G divides H), K
// head width of keys, W head width of values

/// Heads and their widths, with the defaults of `MultiHead` filled in.
struct Heads {
  Heads(const MultiHead& options, int64_t d_model);
  int64_t count, key_values, d_k, d_v;

  /// Widths of packed keys and values. // GK, GW
  int64_t key_width() const { return key_values * d_k; }
  int64_t value_width() const { return key_values * d_v; }
};

/// Keys and values of one attention. // key [B, G, S, K], value [B, G, S, W]
struct KeyValue {
  torch::Tensor key, value;
};

/// Which keys of a memory are real, and which row of it each row of queries reads.
struct MemoryRows {
  torch::Tensor real;  // undefined: there is no memory // [M, S]
  torch::Tensor rows;  // undefined: row i reads row i // [B]
};

/// Multi-head self-attention (Vaswani et al. 2017, section 3.2): queries, keys and values are one
/// product of the input.
class SelfAttention : public Mixer {
 public:
  SelfAttention(const MultiHead& options, const StackOptions& stack);

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& real,
                        const AttentionPosition& position, const Observer* observer) override;
  Past nothing(const torch::Tensor& like) const override;  // key [B, G, 0, K], value [B, G, 0, W]
  torch::Tensor step(const torch::Tensor& x, Past& past,
                     const AttentionPosition& position) override;

 private:
  struct Projected {
    torch::Tensor query;  // [B, H, T, K]
    KeyValue memory;
  };
  Projected projected(const torch::Tensor& qkv, const Rotation& rotation) const;

  Heads heads_;
  bool causal_;
  Linear qkv_, out_;
};

/// Multi-head attention over the encoder's output, whose keys and values are projected once.
class CrossAttentionImpl : public Module {
 public:
  CrossAttentionImpl(const MultiHead& options, const StackOptions& stack);

  /// [B, T, D], [B, S, D], [B, S] -> [B, T, D]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& memory,
                        const torch::Tensor& real, const Observer* observer);
  KeyValue project(const torch::Tensor& memory);  // [B, S, D]
  torch::Tensor step(const torch::Tensor& x, const KeyValue& memory, const MemoryRows& rows,
                     const Observer* observer);

 private:
  Heads heads_;
  Linear query_, key_value_, out_;
};
TORCH_MODULE(CrossAttention);

}  // namespace ablate::models
