#pragma once

#include "models/mixer.h"

namespace ablate::models {

// B batch, T positions, H heads, K and W widths of keys and values. Keys and queries that all heads
// share have one head.

/// The inputs of every head at some positions, in full precision.
struct StateHeads {
  torch::Tensor query, key, value;  // [B, H, T, K] twice, [B, H, T, W]
  torch::Tensor strength = {};      // of writing; undefined: 1 // [B, H, T, 1]
  /// Logarithm of the share of the state, by key, that each position keeps; undefined: all of it.
  torch::Tensor log_kept = {};  // [B, H, T, 1 or K]
  torch::Tensor gate = {};  // of the outputs, before its SiLU; undefined without one // [B, T, HW]
  bool continues = true;    // later positions read the state behind these
};

/// The decays of the positions of one chunk: logarithms of the product of the shares that all
/// positions up to each one keep. Undefined without a decay. // [B, H, T, 1 or K]
class Kept {
 public:
  explicit Kept(const StateHeads& heads)
      : log_(heads.log_kept.defined() ? heads.log_kept.cumsum(2) : heads.log_kept),
        continues_(heads.continues) {}

  /// Products of queries with the keys up to their own positions, times the share that is kept in
  /// between.
  /// // [B, H, T, K] twice -> [B, H, T, T]
  torch::Tensor products(const torch::Tensor& query, const torch::Tensor& key) const;
  /// x, which reads the state before the chunk. // [B, H, T, K]
  torch::Tensor of_state(const torch::Tensor& x) const {
    return log_.defined() ? x * log_.exp() : x;
  }
  /// A state [B, H, K, W] behind the chunk, under whose keys the values were written; as it is if
  /// no later position reads it.
  /// // [B, H, T, K], [B, H, T, W]
  torch::Tensor state_after(const torch::Tensor& state, const torch::Tensor& key,
                            const torch::Tensor& value) const;

 private:
  torch::Tensor log_;
  bool continues_;
};

/// A mixer whose heads read and change a matrix from left to right, in chunks of positions.
class StateMixer : public Mixer {
 public:
  explicit StateMixer(Forgetting decay) : chunk_(chunk_length(decay)) {}

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition&,
                        const ForwardContext& context) override {
    auto cache = empty_cache(x);
    auto heads = projected(x, &cache);
    heads.continues = false;
    return continued(x, heads, cache, context.observer);
  }
  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition&,
                     const ForwardContext&) override {
    return continued(x, projected(x, &cache), cache, nullptr);
  }

 protected:
  /// `cache` as in Mixer::convolved. // [B, T, D]
  virtual StateHeads projected(const torch::Tensor& x, KVCache* cache) const = 0;
  /// Returns the outputs of the heads in a chunk, and leaves the state behind it in `state`.
  /// // -> [B, H, T, W]
  virtual torch::Tensor read(const StateHeads& heads, KVCache::Block& state) const = 0;
  /// The mixer's output, in the type of x, from those of the heads. // [B, T, D], [B, H, T, W]
  virtual torch::Tensor finished(const torch::Tensor& x, const StateHeads& heads,
                                 const torch::Tensor& found, const Observer* observer) const = 0;

 private:
  torch::Tensor continued(const torch::Tensor& x, const StateHeads& all, KVCache& cache,
                          const Observer* observer);

  int64_t chunk_;
};

/// Zeros in full precision, a matrix for each head. // [B, T, D] -> [B, H, K, W]
torch::Tensor empty_state(const torch::Tensor& like, int64_t heads, int64_t keys, int64_t values);

}  // namespace ablate::models
