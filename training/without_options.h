#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "models/head_name.h"

namespace ablate::training {

/// Parts that are left out of the model that a run starts from, named as in that model: heads as in
/// Michel et al. 2019, whole layers as in Fan et al. 2020.
struct WithoutOptions {
  std::vector<std::string> heads, layers;

  bool empty() const { return heads.empty() && layers.empty(); }

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads,
          "attention heads that give nothing, such as encoder.layers.0.attention.3 or "
          "decoder.layers.1.cross_attention.0, counted from 0 on: what reads their output starts "
          "at zero");
    visit("layers", o.layers,
          "layers that are missing, such as encoder.layers.1; the model has so many fewer, which "
          "model.layers, encoder_layers or decoder_layers says, and later ones move up");
  }
  static void rules(const WithoutOptions& o, auto&& require) {
    for (const auto& text : o.layers) {
      require(models::parse_layer(text).has_value(), "layers",
              "must name layers such as encoder.layers.1, not '" + text + "'");
      require(std::ranges::count(o.layers, text) == 1, "layers", "names " + text + " twice");
    }
    for (const auto& text : o.heads) {
      const auto head = models::parse_head(text);
      require(head.has_value(), "heads",
              "must name heads such as encoder.layers.0.attention.3 or "
              "decoder.layers.1.cross_attention.0, not '" +
                  text + "'");
      require(std::ranges::count(o.heads, text) == 1, "heads", "names " + text + " twice");
      require(!head || std::ranges::count(o.layers, text_of(head->attention.layer)) == 0, "heads",
              "names " + text + ", whose layer is left out as a whole");
    }
  }
};

}  // namespace ablate::training
