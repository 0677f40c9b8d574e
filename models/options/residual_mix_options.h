#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "options/bounds.h"

namespace ablate::models {

// Every mix states
//   mixes  whether layers read more than what the last one left, by weights of their depth
//   adds   whether it mixes what layers add

struct NoMix : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "every layer adds to what it reads";
  static constexpr bool mixes = false, adds = false;
};

/// The embeddings are among them; weights start at the last output alone (section 3).
struct DenseMix : EmptyOptions {
  static constexpr std::string_view name = "dense";
  static constexpr std::string_view about =
      "every layer reads a learned weighted sum of all earlier outputs (Pagliardini et al. 2024, "
      "DenseFormer, arXiv 2402.02622)";
  static constexpr bool mixes = true, adds = false;
};

/// It reads an average of the embeddings and of these outputs, weighted at each position by a
/// softmax of the products of their directions with a learned query of the layer, which starts at
/// zero; the paper has one query for each sub-layer.
struct AttentionMix : EmptyOptions {
  static constexpr std::string_view name = "attention";
  static constexpr std::string_view about =
      "every layer attends over what earlier layers added (Kimi Team 2026, Attention Residuals, "
      "arXiv 2603.15031)";
  static constexpr bool mixes = true, adds = true;
};

/// Every layer reads a weighted sum of the streams, mixes them and adds its own part to each, by
/// learned weights and a part that depends on the position. A stream's weights depend on this
/// stream alone and mix it freely (Hyper-Connections, section 2.3). On the manifold all weights
/// depend on all streams, which are mixed by a doubly stochastic matrix, so that their mean is
/// nearly kept, and the other weights are positive (mHC, section 4). In both papers sub-layers do
/// so and the sum of the streams is the output, here whole layers and their mean, which the last
/// norm makes the same.
struct HyperMix {
  static constexpr std::string_view name = "hyper";
  static constexpr std::string_view about =
      "several residual streams that layers read, mix and add to by learned weights (Zhu et al. "
      "2024, arXiv 2409.19606; Xie et al. 2025, mHC, arXiv 2512.24880)";
  static constexpr bool mixes = true, adds = true;
  int64_t streams = 4;
  bool manifold = true;

  static void fields(auto& o, auto&& visit) {
    visit("streams", o.streams, "residual streams", options::from(2, 16));
    visit("manifold", o.manifold,
          "mix the streams by a doubly stochastic matrix (mHC); false: by any matrix");
  }
};

using ResidualMixOptions = std::variant<NoMix, DenseMix, AttentionMix, HyperMix>;

constexpr bool mixes(const ResidualMixOptions& options) {
  return std::visit([]<class Held>(const Held&) { return Held::mixes; }, options);
}

}  // namespace ablate::models
