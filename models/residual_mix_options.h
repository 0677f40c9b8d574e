#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

/// Every layer adds to what it reads.
struct NoMix : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr bool adds = false;
};

/// Every layer reads a weighted sum of the embeddings and of all earlier layers' outputs, with
/// learned weights that start at the last output alone (Pagliardini et al. 2024, DenseFormer,
/// section 3).
struct DenseMix : EmptyOptions {
  static constexpr std::string_view name = "dense";
  static constexpr bool adds = false;
};

/// Every layer reads an average of the embeddings and of the outputs that earlier layers added,
/// weighted at each position by a softmax of the products of their directions with a learned query
/// of the layer, which starts at zero (Kimi Team 2026, Attention Residuals, with one query for a
/// layer instead of one for a sub-layer).
struct AttentionMix : EmptyOptions {
  static constexpr std::string_view name = "attention";
  static constexpr bool adds = true;
};

/// Several residual streams instead of one: every layer reads a weighted sum of them, mixes them
/// and adds its own part to each, by learned weights and a part that depends on the position. A
/// stream's weights depend on this stream alone and mix it freely (Zhu et al. 2024,
/// Hyper-Connections, section 2.3). On the manifold all weights depend on all streams, which are
/// mixed by a doubly stochastic matrix, so that their mean is nearly kept, and the other weights
/// are positive (Xie et al. 2025, mHC, section 4). In both papers sub-layers do so and the sum of
/// the streams is the output, here whole layers and their mean, which the last norm makes the same.
struct HyperMix {
  static constexpr std::string_view name = "hyper";
  static constexpr bool adds = true;
  int64_t streams = 4;
  bool manifold = true;

  static void fields(auto& o, auto&& visit) {
    visit("streams", o.streams, "residual streams", options::from(2, 16));
    visit("manifold", o.manifold,
          "mix the streams by a doubly stochastic matrix (mHC); false: by any matrix");
  }
};

using ResidualMixOptions = std::variant<NoMix, DenseMix, AttentionMix, HyperMix>;

}  // namespace ablate::models
