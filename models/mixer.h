#pragma once

#include <memory>

#include "models/forward_context.h"
#include "models/kv_cache.h"
#include "models/module.h"
#include "models/ops/attention.h"
#include "models/options/transformer_options.h"
#include "models/short_convolution.h"

namespace ablate::models {

/// Mixes the positions of one sequence: attention or an alternative to it. In a causal stack no
/// position depends on later ones.
class Mixer : public Module {
 public:
  /// The context has a padding mask only if tokens follow padding. // [B, T, D] -> [B, T, D]
  virtual torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition& position,
                                const ForwardContext& context) = 0;
  /// The cache of sequences without positions yet, in the type of `like`. // [B, T, D]
  virtual KVCache empty_cache(const torch::Tensor& like) const = 0;
  /// Continues sequences of a causal stack, and adds the new positions to `cache`. Several
  /// positions at once need an empty cache. // [B, T, D] -> [B, T, D]
  virtual torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                             const ops::AttentionPosition& position,
                             const ForwardContext& context) = 0;

  /// Puts a short convolution behind the projection to queries, keys and values, which have
  /// `width` channels together.
  void convolve_projections(const CanonOptions& canon, int64_t width) {
    canon_ = register_module("canon", ShortConvolution(canon, width, "canon"));
  }
  /// That convolution; null: there is none.
  const ShortConvolution& canon() const { return canon_; }

 protected:
  /// Projected queries, keys and values after the convolution, if there is one, as
  /// ShortConvolution::forward. // [B, T, C] -> [B, T, C]
  torch::Tensor convolved(const torch::Tensor& projected, KVCache* cache) const {
    return models::convolved(canon_, projected, cache);
  }

 private:
  ShortConvolution canon_{nullptr};
};

/// A mixer that weighs positions by products of queries and keys.
class ScoredMixer : public Mixer {
 public:
  /// Makes the queries and keys of every head so much smaller that a score of `largest` becomes
  /// `most`, if it is larger: both alike, but only queries if heads share keys (Kimi Team
  /// 2025, arXiv 2507.20534, section 2.1, QK-Clip). // [H]
  virtual void clip_scores(const torch::Tensor& largest, double most) = 0;

 protected:
  /// The values that the heads read in a pass over whole sequences, which an observer sees.
  torch::Tensor attended(ops::AttentionInput input, const ForwardContext& context);
  /// The factor for the scores of each head. // [H] -> [H]
  static torch::Tensor clip_factor(const torch::Tensor& largest, double most) {
    return torch::where(largest > most, most / largest, 1.0);
  }
};

/// x with zeros at padding; the mask may be undefined. // [B, T, D], [B, T] -> [B, T, D]
torch::Tensor without_padding(const torch::Tensor& x, const torch::Tensor& padding_mask);

/// Whether the observer, which may be null, sees the probabilities of attention.
inline bool is_watched(const Observer* observer) {
  return observer != nullptr && observer->attention;
}

/// The outputs of `heads` heads, or their replacement by `observer`, which may be null.
/// // [B, T, HW] -> [B, T, HW]
torch::Tensor observed_heads(const torch::Tensor& values, int64_t heads, const Observer* observer);

/// The mixer of a layer of this stack, or null if the layer has no mixer.
std::shared_ptr<Mixer> make_mixer(const LayerOptions& layer, const StackOptions& stack);

}  // namespace ablate::models
