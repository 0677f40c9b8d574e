#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "models/options/initialization_options.h"
#include "models/options/output_options.h"
#include "models/options/stack_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"
#include "options/record.h"

namespace ablate::models {

ABLATE_ENUM(Family, encoder_decoder, decoder_only, encoder_only);
constexpr auto abouts(Family) {
  return std::to_array<std::string_view>(
      {"an encoder of the source and a decoder of the target (Vaswani et al. 2017, arXiv "
       "1706.03762)",
       "one causal stack, a language model (Radford et al. 2018)",
       "one stack that sees both sides, for classes or masked tokens (Devlin et al. 2018, arXiv "
       "1810.04805)"});
}

/// Whether models of a family have a side.
constexpr bool has_side(Family family, Side side) {
  return family == Family::encoder_decoder ||
         (family == Family::encoder_only) == (side == Side::encoder);
}

/// The matrices among source embedding, target embedding and output projection that are tied. A
/// family with one embedding has it as source and target.
ABLATE_ENUM(Tying, three_way, embeddings, target, source, none);
constexpr auto abouts(Tying) {
  return std::to_array<std::string_view>(
      {"source embedding, target embedding and output are one matrix (Vaswani et al. 2017, section "
       "3.4)",
       "source and target embedding are one matrix, the output another",
       "target embedding and output are one matrix (Press and Wolf 2017, arXiv 1608.05859)",
       "source embedding and output are one matrix", "three matrices"});
}

/// Whether source and target embedding are one matrix in an encoder-decoder.
constexpr bool one_embedding(Tying tying) {
  return tying == Tying::three_way || tying == Tying::embeddings;
}

/// Whether the source embedding is another matrix of the model, which needs one vocabulary.
constexpr bool shares_source(Tying tying) { return one_embedding(tying) || tying == Tying::source; }

/// How the `changes` of a configuration are called, which the lists of layers hold.
struct LayerChanges : EmptyOptions {};

constexpr int64_t kMostLayers = 1000;

/// A Transformer; the defaults are the base model of Vaswani et al. 2017. In YAML, the keys of
/// `layer` stand among those of the model.
struct TransformerOptions {
  Family family = Family::encoder_decoder;
  int64_t d_model = 512;
  int64_t layers = 6;
  std::optional<int64_t> encoder_layers, decoder_layers;
  LayerOptions layer;  // of all layers, unless their side has a list
  PositionIdsOptions position_ids;
  ResidualMixOptions residual_mix;
  ShareOptions share;
  bool bias = true;
  bool embedding_scale = true;
  int64_t token_types = 0;
  EmbeddingNorm embedding_norm = EmbeddingNorm::none;
  Tying tying = Tying::three_way;
  double dropout = 0.1;
  std::optional<double> embedding_dropout;
  double final_dropout = 0.0;
  HeadOptions output;
  InitializationOptions initialization;
  ParametrizationOptions parametrization;
  SideLayers encoder, decoder;

  static void fields(auto& o, auto&& visit) {
    visit("family", o.family, "the stacks of the model");
    visit("d_model", o.d_model, "width of the residual stream (hidden_size)",
          options::from(1, 65'536));
    constexpr auto kDepths = options::from(1, kMostLayers);
    visit("layers", o.layers, "layers of the encoder and of the decoder", kDepths);
    visit("encoder_layers", o.encoder_layers, "layers of the encoder; absent: layers", kDepths);
    visit("decoder_layers", o.decoder_layers, "layers of the decoder; absent: layers", kDepths);
    LayerOptions::fields(o.layer, visit);
    visit("position_ids", o.position_ids, "position ids of the tokens of a sequence");
    visit("residual_mix", o.residual_mix,
          "how layers read and write the residual stream, if not by adding to what they read");
    visit("share", o.share, "weight sharing between the layers of a stack");
    visit("bias", o.bias, "biases of projections and norms");
    visit("embedding_scale", o.embedding_scale, "multiply embeddings by sqrt(d_model)");
    visit(
        "token_types", o.token_types,
        "kinds of texts in a sequence, each with a vector that is added to its tokens: the second "
        "text of data.columns.text_pair has the second one, every other text the first "
        "(type_vocab_size; Devlin et al. 2018, section 3); 0: none",
        options::from(0, 16));
    visit("embedding_norm", o.embedding_norm,
          "norm of the sums of embeddings, before their dropout: none, layer or rms, with the "
          "epsilon of the first layer's norm");
    visit("tying", o.tying,
          "which matrices are one (tie_word_embeddings): three_way, embeddings (source = target), "
          "target (target = output), source (source = output) or none");
    visit("dropout", o.dropout, "dropout probability of sub-layer outputs and of embedding sums",
          options::from_below(0, 1));
    visit("embedding_dropout", o.embedding_dropout,
          "dropout probability of embedding sums (embd_pdrop); absent: dropout",
          options::from_below(0, 1));
    visit("final_dropout", o.final_dropout,
          "dropout probability of a stack's output, behind its last norm (Raffel et al. 2019, T5)",
          options::from_below(0, 1));
    visit("output", o.output, "prediction: tokens, or the label of an encoder's whole input");
    visit("initialization", o.initialization, "how parameters start");
    visit("parametrization", o.parametrization,
          "how learning rates, initial values and scales depend on the model's width");
    visit("encoder", o.encoder, "options in which all layers of the encoder differ");
    visit("decoder", o.decoder, "options in which all layers of the decoder differ");
    LayerChanges changes;
    visit("changes", changes,
          "options in which some layers differ: a list, in which later changes override earlier "
          "ones and all override encoder and decoder");
  }
  static void rules(const TransformerOptions& o, const options::Require& require);
};

/// The further heads of the model (Gloeckle et al. 2024, arXiv 2404.19737).
inline int64_t heads_ahead(const TransformerOptions& o) {
  const auto* head = std::get_if<LmHead>(&o.output);
  return head == nullptr ? 0 : head->ahead;
}

/// The layers that a pass runs through on one side.
inline int64_t depth_of(const TransformerOptions& o, Side side) {
  return (side == Side::encoder ? o.encoder_layers : o.decoder_layers).value_or(o.layers);
}

/// The same model, which runs through the fewest layers that a pass in training does.
inline TransformerOptions with_fewest_layers(TransformerOptions o) {
  if (!o.share.fewest) return o;
  o.layers = *o.share.fewest;
  o.encoder_layers = o.decoder_layers = {};
  return o;
}

/// The number of these layers with their own weights.
inline int64_t different_layers_of(const TransformerOptions& o, Side side) {
  return o.share.layers.value_or(depth_of(o, side));
}

/// Whether a side has at least one layer, and few enough to list them.
inline bool has_sane_depth(const TransformerOptions& o, Side side) {
  const auto sane = [](int64_t layers) { return layers >= 1 && layers <= kMostLayers; };
  return sane(depth_of(o, side)) && sane(different_layers_of(o, side));
}

inline const SideLayers& list_of(const TransformerOptions& o, Side side) {
  return side == Side::encoder ? o.encoder : o.decoder;
}

/// The different layers of a side, to be changed; they start with the model's options.
inline SideLayers& own_layers(TransformerOptions& o, Side side) {
  auto& list = side == Side::encoder ? o.encoder : o.decoder;
  if (list.empty()) list.assign(static_cast<size_t>(different_layers_of(o, side)), o.layer);
  return list;
}

/// Wang et al. 2022, figure 2.
inline DeepNorm deepnorm_of(const TransformerOptions& o, Side which) {
  const auto layers = [&](Side side) { return static_cast<double>(depth_of(o, side)); };
  const double encoder = layers(Side::encoder), decoder = layers(Side::decoder);
  if (o.family != Family::encoder_decoder)
    return {.alpha = std::pow(2 * layers(which), 0.25), .beta = std::pow(8 * layers(which), -0.25)};
  if (which == Side::decoder)
    return {.alpha = std::pow(3 * decoder, 0.25), .beta = std::pow(12 * decoder, -0.25)};
  const double both = std::pow(std::pow(encoder, 4) * decoder, 1.0 / 16);
  return {.alpha = 0.81 * both, .beta = 0.87 / both};
}

/// The attention over the encoder's output of a layer that chooses it so, which has no window if it
/// is the model's.
inline CrossAttentionOptions cross_attention_of(const TransformerOptions& o, Side side,
                                                const CrossAttentionOptions& choice) {
  if (o.family != Family::encoder_decoder || side == Side::encoder) return NoAttention{};
  if (!std::holds_alternative<Same>(choice)) return choice;
  const auto* shared = std::get_if<MultiHead>(&o.layer.attention);
  if (shared == nullptr) return NoAttention{};
  auto same = *shared;
  MultiHead::of_self_attention(same, [](auto, auto& member, auto) { member = {}; });
  return same;
}

/// One stack, whose layers have no `same` any more.
/// REQUIRES: a list, if the side has one, has each of the different layers.
inline StackOptions stack_of(const TransformerOptions& o, Side which) {
  auto layers = list_of(o, which);
  const auto different = static_cast<size_t>(different_layers_of(o, which));
  if (layers.empty()) layers.assign(different, o.layer);
  if (layers.size() != different)
    throw std::invalid_argument("a list of layers must have each of a side's different layers");
  for (auto& layer : layers)
    layer.cross_attention = cross_attention_of(o, which, layer.cross_attention);
  return {.d_model = o.d_model,
          .causal = which == Side::decoder,
          .layers = std::move(layers),
          .depth = depth_of(o, which),
          .order = o.share.order,
          .fewest = o.share.layers ? o.share.fewest : std::nullopt,
          .inject = o.share.inject,
          .ahead = which == Side::decoder ? heads_ahead(o) : 0,
          .position_ids = o.position_ids,
          .deepnorm = deepnorm_of(o, which),
          .bias = o.bias,
          .embedding_norm = o.embedding_norm,
          .embedding_dropout = o.embedding_dropout,
          .final_dropout = o.final_dropout,
          .residual_mix = o.residual_mix,
          .initialization = o.initialization,
          .parametrization = o.parametrization};
}

/// Whether a decoder's cache can drop its last tokens: all that its layers keep of the past are
/// entries of attention, one for each position, and no expert counts the positions that it took.
inline bool can_forget(const TransformerOptions& o) {
  const auto keeps_positions = [](const LayerOptions& layer) {
    const bool counts =
        std::visit([](const auto& held) { return held.counts_positions(); }, layer.feed_forward);
    const bool reads_back =
        std::visit([]<class Held>(const Held&) { return Held::reads_back; }, layer.ngrams);
    return can_forget(layer.attention) && layer.canon.places.empty() && !counts && !reads_back;
  };
  return has_side(o.family, Side::decoder) &&
         std::ranges::all_of(stack_of(o, Side::decoder).layers, keeps_positions);
}

}  // namespace ablate::models
