#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/initialization_options.h"
#include "models/layer_options.h"
#include "models/position/position_ids_options.h"

namespace ablate::models {

/// DeepNorm's factors of sub-layers' inputs and of first values.
struct DeepNorm {
  double alpha = 1, beta = 1;
};

/// One stack of layers.
struct StackOptions {
  int64_t d_model;
  bool causal;                       // the stack writes from left to right
  std::vector<LayerOptions> layers;  // those with weights of their own
  int64_t depth;                     // layers that a pass runs through, shared ones each time
  ShareOrder order = ShareOrder::cycle;
  PositionIdsOptions position_ids = {};
  DeepNorm deepnorm = {};  // if it is chosen
  bool bias = true;
  InitializationOptions initialization = {};
  ParametrizationOptions parametrization = {};

  int64_t different_layers() const { return static_cast<int64_t>(layers.size()); }
  /// Which of the different layers a pass runs at this depth, from 0 on.
  int64_t layer_at(int64_t depth_from_0) const {
    return order == ShareOrder::cycle ? depth_from_0 % different_layers()
                                      : depth_from_0 * different_layers() / depth;
  }
  /// The options of a different layer, from 0 on.
  const LayerOptions& layer(int64_t index) const { return layers.at(static_cast<size_t>(index)); }
  const LayerOptions& last_layer() const { return layer(layer_at(depth - 1)); }

  /// Sub-layers, each of which adds to the residual stream.
  int64_t additions() const {
    int64_t count = 0;
    for (int64_t i = 0; i < depth; ++i) {
      const auto& o = layer(layer_at(i));
      count += std::holds_alternative<NoAttention>(o.attention) ? 0 : 1;
      count += std::holds_alternative<MultiHead>(o.cross_attention) ? 1 : 0;
      count += std::holds_alternative<NoFeedForward>(o.feed_forward) ? 0 : 1;
    }
    return count;
  }
};

/// A position scheme of a stack. Layers with equal options have one scheme, but schemes that act
/// inside attention have heads of one number and width.
struct Scheme {
  PositionOptions options;
  int64_t first;                   // the first of the different layers that has it
  std::optional<MultiHead> heads;  // those that it serves; absent: its layers have no scores
  int64_t scored = 0;              // layers whose scores it serves

  bool serves(const LayerOptions& layer) const {
    if (!equal_values(options, layer.position)) return false;
    const auto* own = std::get_if<MultiHead>(&layer.attention);
    return own == nullptr || !heads || !needs_attention(options) ||
           (own->heads == heads->heads && own->d_k == heads->d_k && own->d_v == heads->d_v);
  }
};

/// Which scheme serves each of the different layers.
struct PositionPlan {
  struct Use {
    size_t scheme;
    int64_t score_index;  // layers before this one whose scores the scheme serves
  };
  std::vector<Scheme> schemes;  // by their first layers
  std::vector<Use> layers;
};

inline PositionPlan position_plan(const StackOptions& stack) {
  PositionPlan plan;
  for (int64_t i = 0; i < stack.different_layers(); ++i) {
    const auto& layer = stack.layer(i);
    auto found = std::ranges::find_if(plan.schemes, [&](const auto& o) { return o.serves(layer); });
    if (found == plan.schemes.end())
      found = plan.schemes.insert(found, {.options = layer.position, .first = i, .heads = {}});
    plan.layers.push_back({static_cast<size_t>(found - plan.schemes.begin()), found->scored});
    const auto* heads = std::get_if<MultiHead>(&layer.attention);
    if (heads == nullptr) continue;
    if (!found->heads) found->heads = *heads;
    ++found->scored;
  }
  return plan;
}

}  // namespace ablate::models
