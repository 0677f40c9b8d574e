#pragma once

#include <memory>

#include "models/forward_context.h"
#include "models/kv_cache.h"
#include "models/module.h"
#include "models/ops/attention.h"
#include "models/transformer_options.h"

namespace ablate::models {

/// What mixes the positions of one sequence: attention, or what stands in its place. A mixer of a
/// causal stack lets nothing pass from later positions to earlier ones.
class Mixer : public Module {
 public:
  /// `padding_mask` [B, T] is false at padding, or undefined where no token stands behind padding.
  /// `observer` may be null.
  /// // [B, T, D] -> [B, T, D]
  virtual torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                                const ops::AttentionPosition& position,
                                const Observer* observer) = 0;
  /// The cache of sequences without positions yet, in the type of `like`. // [B, T, D]
  virtual KVCache empty_cache(const torch::Tensor& like) const = 0;
  /// Continues sequences of a causal stack, and adds the new positions to `cache`. Several
  /// positions at once need an empty cache. // [B, T, D] -> [B, T, D]
  virtual torch::Tensor step(const torch::Tensor& x, KVCache& cache,
                             const ops::AttentionPosition& position) = 0;
};

/// What goes on to the projection of what `heads` heads give: the same, unless `observer`, which
/// may be null, gives something else in its place. // [B, T, HW] -> [B, T, HW]
torch::Tensor observed_heads(const torch::Tensor& values, int64_t heads, const Observer* observer);

/// A mixer of a layer of this stack; null: the layer has none.
std::shared_ptr<Mixer> make_mixer(const AttentionOptions& options, const StackOptions& stack);

}  // namespace ablate::models
