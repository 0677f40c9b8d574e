#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/models/layer_variants.h"
#include "tests/models/mixer_variants.h"
#include "tests/models/residual_variants.h"

namespace ablate::models {

/// Every position scheme with every option that changes what it computes.
inline std::vector<Variant> position_variants() {
  const std::vector<std::pair<std::string, PositionOptions>> schemes = {
      {"none", NoPosition{}},
      {"sinusoidal", Sinusoidal{}},
      {"sinusoidal halves",
       Sinusoidal{.layout = SinusoidalLayout::halves, .frequencies = Frequencies::tensor2tensor}},
      {"sinusoidal every layer", Sinusoidal{.every_layer = true}},
      {"learned", Learned{.max_length = 40}},
      {"learned clamp", Learned{.max_length = 3, .beyond = Beyond::clamp}},
      {"learned every layer", Learned{.max_length = 40, .every_layer = true}},
      {"rotary half", Rotary{}},
      {"rotary interleaved", Rotary{.layout = RotaryLayout::interleaved}},
      {"rotary partial", Rotary{.fraction = 0.5}},
      {"rotary linear", Rotary{.scaling = LinearScaling{}}},
      {"rotary ntk", Rotary{.scaling = NtkScaling{}}},
      {"rotary llama3", Rotary{.scaling = Llama3Scaling{.trained_length = 64}}},
      {"rotary yarn", Rotary{.scaling = YarnScaling{.trained_length = 16, .fast = 4}}},
      {"alibi", Alibi{}},
      {"alibi two-sided", Alibi{.encoder = Sides::two_sided}},
      {"t5", T5Bias{.buckets = 8, .max_distance = 16}},
      {"fire", Fire{}},
      {"kerple logarithmic", Kerple{}},
      {"kerple power", Kerple{.kernel = KerpleKernel::power}},
      {"sandwich", Sandwich{.width = 16}},
      {"shaw", Shaw{.max_distance = 3}},
      {"shaw keys", Shaw{.max_distance = 2, .values = false}},
      {"transformer_xl", TransformerXl{}},
      {"cope", Cope{.positions = 4}},
      {"pope", Pope{.base = 100}}};
  std::vector<Variant> variants;
  for (const auto& [name, position] : schemes) {
    variants.emplace_back(name, tiny());
    variants.back().second.layer.position = position;
  }
  return variants;
}

/// Schemes that read position ids, with random ones in training.
inline std::vector<Variant> position_ids_variants() {
  std::vector<Variant> variants;
  const std::vector<std::pair<std::string, PositionOptions>> schemes = {
      {"sinusoidal", Sinusoidal{}},
      {"learned", Learned{.max_length = 50}},
      {"rotary", Rotary{}},
      {"alibi", Alibi{}},
      {"t5", T5Bias{}},
      {"shaw", Shaw{}}};
  for (const auto& [name, position] : schemes)
    variants.push_back(changed("randomized " + name, [&, position = position](auto& o) {
      o.layer.position = position;
      o.position_ids = Randomized{.range = 50, .longest = 40};
    }));
  return variants;
}

/// Heads with options, each beside a position scheme.
using HeadVariants = std::vector<std::tuple<std::string, MultiHead, PositionOptions>>;

inline std::vector<Variant> variants_of(const HeadVariants& all) {
  std::vector<Variant> variants;
  for (const auto& [name, heads, position] : all)
    variants.push_back(changed(name, [heads = heads, position = position](auto& o) {
      o.layer.attention = heads;
      o.layer.position = position;
    }));
  return variants;
}

/// Four heads with these options, which share two heads of keys and values.
inline MultiHead in_groups(MultiHead heads) {
  heads.heads = 4;
  heads.key_value_heads = 2;
  return heads;
}

/// Attention whose values or outputs are others than the paper's.
inline std::vector<Variant> value_variants() {
  return variants_of(
      {{"value residual", in_groups({.value_residual = ValueResidual::fixed}), Rotary{}},
       {"value embedding", in_groups({.value_embedding = true}), Rotary{}},
       {"value embedding and residual",
        {.heads = 2, .value_residual = ValueResidual::learned, .value_embedding = true},
        Alibi{}},
       {"exclusive", in_groups({.exclusive = true}), Alibi{}},
       {"differential", {.heads = 2, .differential = true}, Rotary{}},
       {"differential groups on a bias",
        {.heads = 4, .key_value_heads = 1, .window = 3, .differential = true},
        T5Bias{}},
       {"differential, exclusive and gated",
        {.heads = 2, .gate = OutputGate::head, .exclusive = true, .differential = true},
        Shaw{}},
       {"learned value residual",
        {.heads = 2, .value_residual = ValueResidual::learned},
        Shaw{.max_distance = 3}}});
}

/// Attention whose queries, keys or scores are others than the paper's, and value_variants(), with
/// schemes of every kind.
inline std::vector<Variant> attention_variants() {
  auto variants = variants_of(
      {{"rms of queries and keys", in_groups({.qk_norm = QkNorm::rms}), Rotary{}},
       {"layer norm of queries and keys", {.heads = 2, .qk_norm = QkNorm::layer}, Shaw{}},
       {"scale", {.heads = 2, .scale = {.value = 0.7}}, Sinusoidal{}},
       {"learned scale",
        {.heads = 2, .qk_norm = QkNorm::rms, .scale = {.value = 2, .learned = true}},
        Alibi{}},
       {"softmax_one", {.heads = 2, .score_function = ScoreFunction::softmax_one}, Rotary{}},
       {"sigmoid weights", in_groups({.score_function = ScoreFunction::sigmoid}), T5Bias{}},
       {"sigmoid weights, two-sided",
        {.heads = 2, .score_function = ScoreFunction::sigmoid},
        Alibi{.encoder = Sides::two_sided}},
       {"relu2 weights", {.heads = 2, .score_function = ScoreFunction::relu2}, Shaw{}},
       {"window", {.heads = 2, .window = 2}, Sinusoidal{}},
       {"window of groups", in_groups({.window = 2}), Rotary{}},
       {"window on a bias", {.heads = 2, .window = 3}, T5Bias{}},
       {"window on content", {.heads = 2, .window = 2}, Cope{.positions = 4}},
       {"window of weights",
        {.heads = 2, .score_function = ScoreFunction::sigmoid, .window = 2},
        Sinusoidal{}},
       {"sinks", in_groups({.sinks = true}), Rotary{}},
       {"sinks beside content", {.heads = 2, .sinks = true}, TransformerXl{}},
       {"cap", {.heads = 2, .softcap = 0.5}, Alibi{}},
       {"gated heads", in_groups({.gate = OutputGate::head}), Sinusoidal{}},
       {"gated elements", {.heads = 2, .gate = OutputGate::element}, Sinusoidal{}}});
  for (const auto& more : value_variants()) variants.push_back(more);
  return variants;
}

/// Whether the weights of every query sum to 1.
inline bool weights_sum_to_one(const TransformerOptions& options) {
  const auto* heads = std::get_if<MultiHead>(&options.layer.attention);
  return heads == nullptr || (heads->score_function == ScoreFunction::softmax && !heads->sinks);
}

inline std::vector<Variant> norm_variants() {
  std::vector<Variant> variants;
  for (const auto& [kind, kind_name] : names(NormKind{}))
    for (const auto& [placement, placement_name] : names(NormPlacement{}))
      variants.push_back(changed(std::string(kind_name) + " " + std::string(placement_name),
                                 [norm = NormOptions{.kind = kind, .placement = placement}](
                                     auto& o) { o.layer.norm = norm; }));
  return variants;
}

inline std::vector<CanonPlace> all_canon_places() {
  return {CanonPlace::attention, CanonPlace::projections, CanonPlace::feed_forward,
          CanonPlace::hidden};
}

/// Layers with short convolutions.
inline std::vector<Variant> canon_variants() {
  const auto everywhere = [](LayerOptions& layer) { layer.canon.places = all_canon_places(); };
  return {changed("canon", [&](auto& o) { everywhere(o.layer); }),
          changed("canon of groups and gates",
                  [&](auto& o) {
                    everywhere(o.layer);
                    o.layer.canon.width = 3;
                    o.layer.position = NoPosition{};
                    o.layer.norm.placement = NormPlacement::pre;
                    o.layer.attention = MultiHead{.heads = 4, .key_value_heads = 2};
                    o.layer.feed_forward = DenseFeedForward{.d_hidden = 24, .gated = true};
                  }),
          changed("canon alone",
                  [](auto& o) {
                    o.layer.canon = {
                        .places = {CanonPlace::projections}, .width = 2, .residual = false};
                  }),
          changed("canon of linear attention",
                  [&](auto& o) {
                    everywhere(o.layer);
                    o.layer.attention = LinearAttention{{.heads = 2}};
                    o.layer.cross_attention = MultiHead{.heads = 2};
                  }),
          changed("canon of the delta rule",
                  [&](auto& o) {
                    everywhere(o.layer);
                    change_layers(o, Side::decoder,
                                  [](auto& layer) { layer.attention = DeltaRule{{.heads = 2}}; });
                  }),
          changed("canon in one of two layers with one feed-forward",
                  [&](auto& o) {
                    o.layer.feed_forward = DenseFeedForward{.d_hidden = 24, .shared = true};
                    change_layers(o, {2}, everywhere);
                  }),
          changed("experts and canon", [](auto& o) {
            o.layer.canon.places = {CanonPlace::attention, CanonPlace::feed_forward};
            o.layer.feed_forward = MixtureOptions{.experts = 4, .active = 2, .d_hidden = 12};
          })};
}

/// Mixtures of experts whose output at one position depends on no other position.
inline std::vector<Variant> mixture_variants() {
  std::vector<Variant> variants;
  const std::vector<std::pair<std::string, MixtureOptions>> mixtures = {
      {"softmax", {.active = 2}},
      {"softmax as it is", {.active = 1, .router = SoftmaxRouter{.renormalize = false}}},
      {"switch", {.active = 1, .router = SwitchRouter{}}},
      {"gshard", {.active = 2, .router = GshardRouter{}}},
      {"sigmoid", {.active = 2, .router = SigmoidRouter{}}},
      {"hash", {.active = 2, .router = HashRouter{}}},
      {"gated", {.active = 2, .activation = Activation::silu, .gated = true}},
      {"shared", {.active = 1, .shared_experts = 1, .router = SwitchRouter{}}}};
  for (const auto& [name, mixture] : mixtures)
    variants.push_back(changed("experts, " + name, [mixture = mixture](auto& o) {
      auto options = mixture;
      options.experts = 4;
      options.d_hidden = 12;
      o.layer.feed_forward = options;
    }));
  variants.push_back(changed("experts, few neurons", [](auto& o) {
    o.layer.feed_forward = MixtureOptions{.experts = 4, .active = 2, .d_hidden = 2};
  }));
  variants.push_back(changed("experts, every other layer", [](auto& o) {
    change_layers(o, {2}, [](auto& layer) {
      layer.feed_forward = MixtureOptions{.experts = 4, .active = 2, .d_hidden = 12};
    });
  }));
  return variants;
}

/// Other positions change how many rows an expert's products have, and with that their rounding;
/// nothing else is ever touched.
inline double rounding(const std::string& variant) {
  return variant.starts_with("experts") ? 1e-5 : 0.0;
}

inline DenseFeedForward dense(Activation activation, bool gated) {
  return {.d_hidden = 24, .activation = activation, .gated = gated};
}

inline std::vector<Variant> head_and_activation_variants() {
  return {changed("widths",
                  [](auto& o) { o.layer.attention = MultiHead{.heads = 3, .d_k = 5, .d_v = 7}; }),
          changed("grouped heads",
                  [](auto& o) { o.layer.attention = MultiHead{.heads = 4, .key_value_heads = 2}; }),
          changed("one key/value head",
                  [](auto& o) {
                    o.layer.attention = MultiHead{.heads = 4, .key_value_heads = 1};
                    o.layer.position = Rotary{};
                  }),
          changed("gelu", [](auto& o) { o.layer.feed_forward = dense(Activation::gelu, false); }),
          changed("geglu by tanh",
                  [](auto& o) { o.layer.feed_forward = dense(Activation::gelu_tanh, true); }),
          changed("swiglu", [](auto& o) { o.layer.feed_forward = dense(Activation::silu, true); }),
          changed("relu2", [](auto& o) { o.layer.feed_forward = dense(Activation::relu2, false); }),
          changed("glu", [](auto& o) { o.layer.feed_forward = dense(Activation::sigmoid, true); }),
          changed("bilinear",
                  [](auto& o) { o.layer.feed_forward = dense(Activation::identity, true); })};
}

/// Tables of n-grams.
inline std::vector<Variant> ngram_variants() {
  return {changed("n-grams",
                  [](auto& o) { o.layer.ngrams = HashedNgrams{.longest = 3, .buckets = 7}; }),
          changed("n-grams of four",
                  [](auto& o) { o.layer.ngrams = HashedNgrams{.longest = 4, .buckets = 5}; }),
          changed("n-grams in the second layer", [](auto& o) {
            o.layer.norm.placement = NormPlacement::pre;
            change_layers(o, {2}, [](auto& layer) { layer.ngrams = HashedNgrams{.buckets = 11}; });
          })};
}

inline std::vector<Variant> whole_model_variants() {
  return {changed("experts, limited",
                  [](auto& o) {
                    o.layer.feed_forward =
                        MixtureOptions{.experts = 4,
                                       .active = 2,
                                       .d_hidden = 12,
                                       .capacity = LimitedCapacity{.evaluation = 0.6}};
                  }),
          changed("scaled transformer_xl",
                  [](auto& o) {
                    o.layer.position = TransformerXl{.frequencies = Frequencies::tensor2tensor};
                    o.layer.attention = MultiHead{.heads = 2, .scale = {.value = 0.7}};
                  }),
          changed("cope with a learned scale",
                  [](auto& o) {
                    o.layer.position = Cope{.positions = 4};
                    o.layer.attention = MultiHead{.heads = 2,
                                                  .qk_norm = QkNorm::rms,
                                                  .scale = {.value = 0.7, .learned = true}};
                  }),
          changed("no feed-forward", [](auto& o) { o.layer.feed_forward = NoFeedForward{}; }),
          changed("mup",
                  [](auto& o) {
                    o.parametrization = MaximalUpdate{.base_width = 4};
                    o.initialization = NormalInitialization{{.depth = DepthScaling::sqrt}, 0.1};
                  }),
          changed("sides of their own", [](auto& o) {
            o.encoder_layers = 3;
            change_layers(o, Side::encoder, [](auto& layer) {
              layer.norm.placement = NormPlacement::pre;
              layer.position = Alibi{};
            });
            change_layers(o, Side::decoder, [](auto& layer) {
              layer.attention = Average{};
              layer.feed_forward = dense(Activation::gelu, true);
              layer.residual.per = FactorPer::layer;
            });
          })};
}

/// Residual sums, biases, embeddings and heads.
inline std::vector<Variant> end_and_bias_variants() {
  return {changed("no skip", [](auto& o) { o.layer.residual.skip = false; }),
          changed("no bias", [](auto& o) { o.bias = false; }),
          changed("biases of some",
                  [](auto& o) {
                    o.bias = false;
                    o.layer.norm.bias = true;
                    o.layer.attention = MultiHead{.heads = 2, .qkv_bias = true};
                    o.layer.feed_forward = DenseFeedForward{.d_hidden = 24, .bias = true};
                  }),
          changed("unscaled embeddings", [](auto& o) { o.embedding_scale = false; }),
          changed("scaled logits", [](auto& o) { o.output = LmHead{{.scale = 0.5}}; }),
          changed("capped logits", [](auto& o) { o.output = LmHead{{.softcap = 1.5}}; }),
          changed("transformed output with a bias", [](auto& o) {
            o.output = LmHead{{.scale = 0.5}, true, Activation::gelu};
          })};
}

/// Every option that changes the forward pass, for properties that must hold for all of them.
inline std::vector<Variant> variants() {
  auto all = position_variants();
  for (const auto& more :
       {position_ids_variants(), mixture_variants(), mixer_variants(), canon_variants(),
        attention_change_variants(), hybrid_variants(), layer_variants(), attention_variants(),
        norm_variants(), residual_variants(), stream_variants(), head_and_activation_variants(),
        ngram_variants(), whole_model_variants(), end_and_bias_variants()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace ablate::models
