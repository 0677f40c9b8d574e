#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "models/forward_context.h"
#include "models/kv_cache.h"
#include "models/libtorch.h"
#include "models/linear.h"
#include "models/ops/attention.h"
#include "models/options/stack_options.h"

namespace ablate::models {

// B batch, T queries, S keys, D model width, H heads, M attention maps, G key and value heads,
// K and W widths of keys and values

/// The attention that a stage is made for.
struct StagePlace {
  const MultiHead& options;
  const StackOptions& stack;

  Heads heads() const { return heads_of(options, stack.d_model); }
  double root() const { return std::sqrt(static_cast<double>(heads().d_k)); }  // sqrt(K)
  /// A map of the attention's input to a number for each of `count` heads.
  Linear number_of_heads(int64_t count, bool bias) const {
    return Linear(stack.d_model, count, bias,
                  options.d_k ? Projection::query : Projection::head_gate);
  }
};

/// Queries, keys and values of an attention: side by side, as a projection returns them, until
/// somebody asks for one of them by head.
class Projections {
 public:
  /// The parts of one projection's output. // [B, T, MK + GK + GW], or fewer columns
  enum class Parts { all, queries, keys_and_values };

  Projections(torch::Tensor packed, const Heads& heads, Parts parts = Parts::all)
      : packed_(std::move(packed)), heads_(heads), parts_(parts) {}

  // By head, to read and to replace; null: they are not among the parts.
  torch::Tensor* query() { return by_head(0); }  // [B, T, M, K]
  torch::Tensor* key() { return by_head(1); }    // [B, T, G, K]
  torch::Tensor* value() { return by_head(2); }  // [B, T, G, W]

  /// Side by side, as they are now.
  torch::Tensor packed() const;
  /// The heads, with the widths that queries and keys have now.
  Heads heads() const;

 private:
  torch::Tensor* by_head(size_t which);

  torch::Tensor packed_;
  Heads heads_;
  Parts parts_;
  std::vector<torch::Tensor> by_head_;  // of the parts; empty: nobody has asked yet
};

/// One pass over an attention.
struct StagePass {
  const torch::Tensor& x;                  // the attention's input // [B, T, D]
  const ops::AttentionPosition& position;  // of the operation
  const ForwardContext& context;
  KVCache* cache = nullptr;  // which the pass continues; null: x is the whole of its sequences
};

/// An addition to an attention in one of three places: behind its projections, before its
/// operation, and on the outputs of its maps. By default it leaves everything as it is. A stage
/// registers its parameters with the attention.
class Stage {
 public:
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

/// The stages that an attention's options ask for, in the order in which they act in their places.
class Stages {
 public:
  /// They register their parameters with `owner`, the attention.
  Stages(Module& owner, const StagePlace& place);

  // Each place of `Stage`, of all of them.
  void project(Projections& own, const StagePass& pass) const;
  void score(ops::AttentionInput& input) const;
  torch::Tensor read(torch::Tensor values, Projections& own, const StagePass& pass) const;
  void begin(KVCache& cache, const torch::Tensor& like) const;

 private:
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace ablate::models
