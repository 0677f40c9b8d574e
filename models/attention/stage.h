#pragma once

#include <cmath>

#include "models/attention/heads.h"
#include "models/attention/projections.h"
#include "models/forward_context.h"
#include "models/kv_cache.h"
#include "models/linear.h"
#include "models/ops/attention.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, H heads, M attention maps, G key and value heads,
// K and W widths of keys and values

/// The attention that a stage is made for.
struct StagePlace {
  const MultiHead& options;
  const StackOptions& stack;

  ops::Heads heads() const { return heads_of(options, stack.d_model); }
  double root() const { return std::sqrt(static_cast<double>(heads().d_k)); }  // sqrt(K)
  /// A map of the attention's input to a number for each of `count` heads.
  Linear number_of_heads(int64_t count, bool bias) const {
    return Linear(stack.d_model, std::vector{count}, bias,
                  options.d_k ? Projection::query : Projection::head_gate);
  }
};

/// One pass over an attention.
struct StagePass {
  const torch::Tensor& x;                  // the attention's input // [B, T, D]
  const ops::AttentionPosition& position;  // of the operation
  const ForwardContext& context;
  KVCache* cache = nullptr;  // which the pass continues; null: x is the whole of its sequences
};

/// An addition to an attention in one of three places: behind its projections, before its
/// operation, and on what its maps read. By default it leaves everything as it is. A stage
/// registers its parameters with the attention. Its class also says `is_in(place)`, whether the
/// options ask for it.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  /// Changes projected queries, keys and values.
  virtual void project(Projections&, const StagePass&) {}
  /// Changes how the operation scores and weighs.
  virtual void score(ops::AttentionInput&) {}
  /// Returns the outputs of the heads from those of their maps. // [B, T, MW] -> [B, T, HW]
  virtual torch::Tensor read(const torch::Tensor& values, Projections&, const StagePass&) {
    return values;
  }
  /// Adds its state before the first position to an attention's empty cache. // [B, T, D]
  virtual void begin(KVCache&, const torch::Tensor&) const {}
};

}  // namespace ablate::models
