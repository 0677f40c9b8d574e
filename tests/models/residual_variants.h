#pragma once

#include <vector>

#include "tests/models/layer_variants.h"

namespace ablate::models {

/// How sub-layers and layers are put together.
inline std::vector<Variant> residual_variants() {
  const auto pre = [](auto& o) { o.layer.norm.placement = NormPlacement::pre; };
  const auto deep = [](int64_t different, ShareOrder order) {
    return [=](auto& o) {
      o.layers = 4;
      o.share = {.layers = different, .order = order};
    };
  };
  return {changed("factor of layers", [](auto& o) { o.layer.residual.per = FactorPer::layer; }),
          changed("factor of channels",
                  [&](auto& o) {
                    pre(o);
                    o.layer.residual = {.start = 0.1, .per = FactorPer::channel};
                  }),
          changed("fixed factor", [](auto& o) { o.layer.residual.start = 0.5; }),
          changed("sqrt of depth", [](auto& o) { o.layer.residual.depth = ResidualDepth::sqrt; }),
          changed("deepnorm",
                  [](auto& o) {
                    o.layer.residual.depth = ResidualDepth::deepnorm;
                    o.initialization = XavierInitialization{{.depth = DepthScaling::deepnorm}};
                  }),
          changed("stochastic depth", [](auto& o) { o.layer.residual.drop = 0.5; }),
          changed("parallel",
                  [&](auto& o) {
                    pre(o);
                    o.layer.block = Block::parallel;
                  }),
          changed("parallel, a norm each",
                  [&](auto& o) {
                    pre(o);
                    o.layer.block = Block::parallel_norms;
                  }),
          changed("norm of embeddings",
                  [&](auto& o) {
                    pre(o);
                    o.embedding_norm = EmbeddingNorm::layer;
                    o.layer.norm.epsilon = 0.3;
                    change_layers(o, {1}, [](auto& layer) { layer.norm.attention = false; });
                  }),
          changed("shared in a cycle", deep(2, ShareOrder::cycle)),
          changed("shared in sequence",
                  [&](auto& o) {
                    deep(2, ShareOrder::sequence)(o);
                    o.layer.position = Shaw{};
                  }),
          changed("shared feed-forward", [](auto& o) {
            o.layer.feed_forward = DenseFeedForward{.d_hidden = 24, .shared = true};
          })};
}

/// Residual streams that layers read and write in other ways.
inline std::vector<Variant> stream_variants() {
  return {changed("norms scaled by depth",
                  [](auto& o) {
                    o.layer.norm.placement = NormPlacement::pre;
                    o.layer.norm.layernorm_scaling = true;
                  }),
          changed("dense residuals", [](auto& o) { o.residual_mix = DenseMix{}; }),
          changed("attention over residuals",
                  [](auto& o) {
                    o.layer.norm.placement = NormPlacement::pre;
                    o.residual_mix = AttentionMix{};
                  }),
          changed("hyper-connections",
                  [](auto& o) {
                    o.layer.norm.placement = NormPlacement::pre;
                    o.residual_mix = HyperMix{.streams = 3, .manifold = false};
                  }),
          changed("hyper-connections on the manifold", [](auto& o) {
            o.layer.norm.placement = NormPlacement::pre;
            o.residual_mix = HyperMix{.streams = 2};
          })};
}

}  // namespace ablate::models
