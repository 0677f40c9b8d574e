#pragma once

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

}  // namespace ablate::models
