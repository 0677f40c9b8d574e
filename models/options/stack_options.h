#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/options/initialization_options.h"
#include "models/options/layer_options.h"
#include "models/options/position_options.h"
#include "models/options/residual_mix_options.h"
#include "options/enumeration.h"

namespace ablate::models {

/// DeepNorm's factors of sub-layers' inputs and of first values.
struct DeepNorm {
  double alpha = 1, beta = 1;
};

/// A norm of the sums of embeddings, before their dropout, as in BERT (Devlin et al. 2018).
ABLATE_ENUM(EmbeddingNorm, none, layer, rms);

/// One stack of layers.
struct StackOptions {
  int64_t d_model;
  bool causal;                       // the stack writes from left to right
  std::vector<LayerOptions> layers;  // those with weights of their own
  int64_t depth;                     // layers that a pass runs through, shared ones each time
  ShareOrder order = ShareOrder::cycle;
  std::optional<int64_t> fewest = {};  // layers of a pass in training; absent: all
  bool inject = false;                 // every round but the first gets the input, too
  int64_t ahead = 0;                   // further heads, each a layer beside the last one
  PositionIdsOptions position_ids = {};
  DeepNorm deepnorm = {};  // if it is chosen
  bool bias = true;
  EmbeddingNorm embedding_norm = EmbeddingNorm::none;
  std::optional<double> embedding_dropout = {};
  double final_dropout = 0.0;
  ResidualMixOptions residual_mix = {};
  InitializationOptions initialization = {};
  ParametrizationOptions parametrization = {};
  int64_t vocabulary = 0;  // tokens, set by the model

  /// The width at which the parametrization makes a standard model.
  double base_width() const { return static_cast<double>(base_width_of(parametrization, d_model)); }
  /// The base width over the model's.
  double narrowing() const { return base_width() / static_cast<double>(d_model); }
  int64_t different_layers() const { return static_cast<int64_t>(layers.size()); }
  /// The index of the different layer that a pass runs at this depth, from 0 on.
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
      for (const bool adds :
           {is_sublayer(o.attention), is_sublayer(o.cross_attention), is_sublayer(o.feed_forward)})
        count += adds ? 1 : 0;
    }
    return count;
  }
};

/// The factor by which a parametrization makes products of queries and keys smaller: that of the
/// width if the width of a head follows it, otherwise 1.
inline double head_narrowing_of(const MultiHead& options, const StackOptions& stack) {
  return options.d_k ? 1 : stack.narrowing();
}

/// The factor of queries: not 1 if the scale differs from 1 / sqrt(d_k), or if the parametrization
/// changes the size of scores. A given scale is that of the base width.
inline double query_factor_of(const MultiHead& options, const StackOptions& stack) {
  const double narrowing = head_narrowing_of(options, stack);
  if (!options.scale.value) return std::sqrt(narrowing);
  const auto d_k = static_cast<double>(heads_of(options, stack.d_model).d_k);
  return *options.scale.value * std::sqrt(d_k) * narrowing;
}

}  // namespace ablate::models
