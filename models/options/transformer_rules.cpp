#include <algorithm>
#include <string>

#include "models/options/stack_rules.h"
#include "models/options/transformer_options.h"

namespace ablate::models {
namespace {

void family_rules(const TransformerOptions& o, const options::Require& require) {
  const bool pair = o.family == Family::encoder_decoder;
  const bool labels = predicts_labels(o.output);
  require(!labels || o.family == Family::encoder_only, "output.kind",
          "can be label only in an encoder_only model");
  require(!labels || o.tying == Tying::none, "tying",
          "must be none if model.output is label: classes are not tokens");
  require(pair || o.tying == Tying::three_way || o.tying == Tying::none, "tying",
          "must be three_way or none in a family with one embedding");
  require(o.token_types == 0 || o.family == Family::encoder_only, "token_types",
          "must be 0 unless model.family is encoder_only: no other model reads two texts at once");
  require(heads_ahead(o) == 0 || has_side(o.family, Side::decoder), "output.ahead",
          "must be 0 in an encoder_only model, which writes no next token");
  const auto owns = [&](Side side, const auto& layers) {
    const auto name = text_of(side);
    const bool has = has_side(o.family, side);
    const auto why =
        "has no effect: " + std::string(side == Side::encoder ? "a decoder" : "an encoder") +
        "_only model has no " + name;
    require(has || list_of(o, side).empty(), name, why);
    require(has || !layers, name + "_layers", why);
  };
  owns(Side::encoder, o.encoder_layers);
  owns(Side::decoder, o.decoder_layers);
}

void depth_rules(const TransformerOptions& o, const options::Require& require) {
  for (const auto side : {Side::encoder, Side::decoder})
    require(!has_side(o.family, side) || !o.share.layers || *o.share.layers <= depth_of(o, side),
            "share.layers", "must not exceed the number of layers");
}

void cross_attention_rules(const TransformerOptions& o, const options::Require& require) {
  const auto check = [&](const CrossAttentionOptions& cross, const std::string& at) {
    const bool pair = o.family == Family::encoder_decoder;
    const bool same = std::holds_alternative<Same>(cross);
    require(pair || same, at + "cross_attention",
            "has no effect: only an encoder_decoder model has cross-attention");
    require(!pair || !same || std::holds_alternative<MultiHead>(o.layer.attention),
            at + "cross_attention.kind",
            "cannot be same if model.attention is not multi_head; choose multi_head or none");
    const auto resolved = cross_attention_of(o, Side::decoder, cross);
    const auto* heads = std::get_if<MultiHead>(&resolved);
    require(heads == nullptr || !heads->window, at + "cross_attention.window",
            "has no effect: targets and sources have no distance");
    require(heads == nullptr || heads->value_residual == ValueResidual::none,
            at + "cross_attention.value_residual",
            "must be none: only self-attention mixes values of several layers");
    require(heads == nullptr || !heads->value_embedding, at + "cross_attention.value_embedding",
            "must be false: its values are those of the encoder's output, not of tokens");
    require(heads == nullptr || !heads->exclusive, at + "cross_attention.exclusive",
            "must be false: a target has no value of its own among those of the source");
    require(heads == nullptr || !heads->forgetting, at + "cross_attention.forgetting",
            "must be false: targets and sources have no distance");
    require(heads == nullptr || heads->divides(o.d_model),
            same ? "attention.heads" : at + "cross_attention.heads",
            "must divide d_model unless d_k and d_v are given");
  };
  if (o.decoder.empty()) return check(o.layer.cross_attention, "");
  for (size_t i = 0; i < o.decoder.size(); ++i)
    check(o.decoder[i].cross_attention, "decoder." + std::to_string(i + 1) + ".");
}

void position_rules(const TransformerOptions& o, const options::Require& require) {
  bool reads = false;
  for (const auto side : {Side::encoder, Side::decoder}) {
    if (!has_side(o.family, side)) continue;
    const auto& list = list_of(o, side);
    reads = reads || (list.empty() && traits_of(o.layer.position).reads_position_ids) ||
            std::ranges::any_of(list, [](const auto& layer) {
              return traits_of(layer.position).reads_position_ids;
            });
  }
  require(reads || std::holds_alternative<Consecutive>(o.position_ids), "position_ids.kind",
          "has no effect: the position scheme reads no position ids; choose consecutive");
  const auto looks_left = [&](const PositionOptions& scheme, const std::string& at) {
    const auto* alibi = std::get_if<Alibi>(&scheme);
    // A decoder may have the scheme of the whole model, of which it has no use for one side.
    const bool shared = o.family != Family::decoder_only && equal(scheme, o.layer.position);
    require(!has_side(o.family, Side::decoder) || shared || alibi == nullptr ||
                alibi->encoder == Sides::symmetric,
            at + "position.encoder",
            "cannot be two_sided in a decoder, whose heads all look to the left");
  };
  if (o.decoder.empty()) return looks_left(o.layer.position, "");
  for (size_t i = 0; i < o.decoder.size(); ++i)
    looks_left(o.decoder[i].position, "decoder." + std::to_string(i + 1) + ".");
}

}  // namespace

void TransformerOptions::rules(const TransformerOptions& o, const options::Require& require) {
  require(fits_widths(o.initialization) || !goes_by_width(o.parametrization),
          "parametrization.kind",
          "must be standard if initialization is t5, whose deviations depend on the width");
  family_rules(o, require);
  depth_rules(o, require);
  cross_attention_rules(o, require);
  position_rules(o, require);
  for (const auto side : {Side::encoder, Side::decoder}) {
    if (!has_side(o.family, side) || !has_sane_depth(o, side)) continue;
    const bool listed = !list_of(o, side).empty();
    const auto name = text_of(side) + ".";
    const auto path = [&](int64_t index) {
      return listed ? name + std::to_string(index + 1) + "." : std::string();
    };
    check_stack(stack_of(o, side), path, require);
  }
}

}  // namespace ablate::models
