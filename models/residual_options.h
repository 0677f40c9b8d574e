#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "models/empty_options.h"

namespace ablate::models {

enum class NormKind { layer, rms, batch, tanh, none };

constexpr auto names(NormKind) {
  return std::to_array<std::pair<NormKind, std::string_view>>({{NormKind::layer, "layer"},
                                                               {NormKind::rms, "rms"},
                                                               {NormKind::batch, "batch"},
                                                               {NormKind::tanh, "tanh"},
                                                               {NormKind::none, "none"}});
}

enum class NormPlacement { post, pre, both };

constexpr auto names(NormPlacement) {
  return std::to_array<std::pair<NormPlacement, std::string_view>>(
      {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}, {NormPlacement::both, "both"}});
}

struct NormOptions {
  NormKind kind = NormKind::layer;
  NormPlacement placement = NormPlacement::post;
  double alpha = 0.5;

  static void fields(auto& o, auto&& visit) {
    visit(
        "kind", o.kind,
        "layer, rms, batch (statistics over the unpadded positions), tanh (of alpha x, instead of "
        "a norm) or none");
    visit("placement", o.placement,
          "post: after the residual sum, as in the paper; pre: before the sub-layer; both: before "
          "the sub-layer and on its output");
    visit("alpha", o.alpha, "of tanh: the first value of its trained factor");
  }
  static void rules(const NormOptions& o, auto&& require) {
    require(o.alpha > 0, "alpha", "must be positive");
  }
};

/// Whether a sub-layer's input is added to its output.
enum class Skip { on, off, learned };

constexpr auto names(Skip) {
  return std::to_array<std::pair<Skip, std::string_view>>(
      {{Skip::on, "true"}, {Skip::off, "false"}, {Skip::learned, "learned"}});
}

}  // namespace ablate::models
