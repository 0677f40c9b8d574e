#include <algorithm>
#include <functional>
#include <string>
#include <type_traits>

#include "models/options/position_plan.h"
#include "models/options/transformer_options.h"

namespace ablate::models {
namespace {

/// The prefix of the keys of the layer with this number, from 0 on: "encoder.3.", or "" for the
/// model's own keys.
using PathOfLayer = std::function<std::string(int64_t)>;

/// The rules of one stack.
struct StackRules {
  const StackOptions& stack;
  const PathOfLayer& path;
  const options::Require& require;

  void check() const {
    for (int64_t i = 0; i < stack.different_layers(); ++i) check_layer(stack.layer(i), path(i));
    check_schemes();
    check_first_values();
    check_rounds();
    check_ahead();
  }

 private:
  void check_layer(const LayerOptions& layer, const std::string& at) const {
    check_mixer(layer.attention, at + "attention.");
    check_feed_forward(layer, at + "feed_forward.");
    check_position(layer, at + "position.");
    check_residual(layer, at);
    check_canon(layer, at + "canon.places");
  }

  /// Every short convolution has something to act on.
  void check_canon(const LayerOptions& layer, const std::string& at) const {
    const auto& canon = layer.canon;
    const auto feed_forward = feed_forward_of(layer.feed_forward);
    require(!canon.has(CanonPlace::attention) || is_sublayer(layer.attention), at,
            "cannot have a in a layer without attention");
    require(!canon.has(CanonPlace::projections) || traits_of(layer.attention).has_projections, at,
            "can have b only in a layer with queries, keys and values, whose attention is "
            "multi_head, linear or delta");
    require(!canon.has(CanonPlace::feed_forward) || is_sublayer(feed_forward), at,
            "cannot have c in a layer without a feed-forward");
    require(!canon.has(CanonPlace::hidden) || hidden_channels(feed_forward), at,
            "can have d only in a layer whose feed-forward is dense");
  }

  void check_mixer(const AttentionOptions& mixer, const std::string& at) const {
    const auto* heads = std::get_if<MultiHead>(&mixer);
    require(heads == nullptr || heads->divides(stack.d_model), at + "heads",
            "must divide d_model unless d_k and d_v are given");
    require(stack.causal || heads == nullptr || !heads->forgetting, at + "forgetting",
            "must be false in an encoder: it forgets from left to right");
    const auto* latent = std::get_if<Latent>(&mixer);
    require(latent == nullptr || latent->heads < 1 || stack.d_model % latent->heads == 0 ||
                (latent->d_k && latent->d_v),
            at + "heads", "must divide d_model unless d_k and d_v are given");
    const auto* matrices = std::visit(
        []<class Held>(const Held& held) -> const MatrixState* {
          if constexpr (std::is_base_of_v<MatrixState, Held>) return &held;
          return nullptr;
        },
        mixer);
    require(matrices == nullptr || matrices->heads < 1 || stack.d_model % matrices->heads == 0,
            at + "heads", "must divide d_model");
    std::visit(
        [&]<class Held>(const Held&) {
          require(stack.causal || !Held::traits.causal_only, at + "kind",
                  "cannot be " + std::string(Held::name) +
                      " in an encoder: it writes from left to right");
        },
        mixer);
    const auto* mamba2 = std::get_if<Mamba2>(&mixer);
    require(mamba2 == nullptr || mamba2->heads < 1 ||
                mamba2->value_width(stack.d_model) % mamba2->heads == 0,
            at + "heads", "must divide expand times d_model");
    const auto* linear = std::get_if<LinearAttention>(&mixer);
    require(stack.causal || linear == nullptr || linear->decay == Forgetting::none ||
                linear->decay == Forgetting::fixed,
            at + "decay",
            "can be only none or fixed in an encoder: the others forget from left to right");
    require(!std::holds_alternative<Lstm>(mixer) || stack.causal || stack.d_model % 2 == 0,
            "d_model", "must be even if an encoder's attention is lstm, half for each direction");
  }

  void check_position(const LayerOptions& layer, const std::string& at) const {
    const auto* learned = std::get_if<Learned>(&layer.position);
    require(learned == nullptr || learned->beyond != Beyond::interpolate || !stack.causal,
            at + "beyond",
            "cannot be interpolate in a decoder, which does not know how long its output will be");
    const auto* randomized = std::get_if<Randomized>(&stack.position_ids);
    require(randomized == nullptr || learned == nullptr || learned->max_length >= randomized->range,
            at + "max_length", "must be at least model.position_ids.range");
    check_rotary(layer, at);
    const auto* heads = std::get_if<MultiHead>(&layer.attention);
    const auto& scheme = traits_of(layer.position);
    const bool leaves_queries = !scheme.turns_heads && !scheme.computes_scores;
    require(
        heads == nullptr || !heads->forgetting || leaves_queries, at + "kind",
        "must be one that is added to embeddings or scores, or none, with attention.forgetting");
    const auto& mixer = traits_of(layer.attention);
    require(!mixer.has_scores || mixer.lends_scores || !scheme.computes_scores, at + "kind",
            "must be rotary, one that is added to embeddings or scores, or none, if attention is "
            "latent");
  }

  void check_rotary(const LayerOptions& layer, const std::string& at) const {
    const auto* rotary = std::get_if<Rotary>(&layer.position);
    const auto heads = heads_for_positions(layer.attention, stack.d_model);
    if (rotary == nullptr || !heads) return;
    const int64_t width = heads->d_k.value_or(stack.d_model / std::max<int64_t>(1, heads->heads));
    require(rotary->fraction * static_cast<double>(width) >= 2, at + "fraction",
            "must leave at least two dimensions of a head to turn");
  }

  /// Every scheme does something in every layer that has it.
  void check_schemes() const {
    const auto plan = position_plan(stack);
    const Scheme* added = nullptr;  // to the embeddings, by a layer before
    for (int64_t i = 0; i < stack.different_layers(); ++i) {
      const auto& scheme = plan.schemes[plan.layers[static_cast<size_t>(i)].scheme];
      const auto& traits = traits_of(scheme.options);
      require(
          !traits.needs_attention || scheme.heads, path(i) + "position.kind",
          "acts inside multi_head or latent attention, which no layer with it has; choose none, "
          "sinusoidal or learned");
      require(traits.tells_order || added == nullptr, path(i) + "position.kind",
              "cannot be none after a layer whose position is added to the embeddings: it stays in "
              "them");
      if (traits.adds_to_embeddings && !adds_in_every_layer(scheme.options)) added = &scheme;
    }
  }

  /// A pass in training ends between two rounds.
  void check_rounds() const {
    require(!stack.inject || !mixes(stack.residual_mix), "share.inject",
            "needs residual_mix none, since the others mix the input in themselves");
    if (!stack.fewest) return;
    const int64_t round = stack.different_layers();
    require(*stack.fewest >= 1 && *stack.fewest <= stack.depth && *stack.fewest % round == 0 &&
                stack.depth % round == 0,
            "share.fewest",
            "must be, as the number of layers, a multiple of share.layers, and not more than it");
    require(!mixes(stack.residual_mix), "share.fewest",
            "needs residual_mix none, since the others have weights for all depths");
  }

  /// A further head is one more layer like the last one.
  void check_ahead() const {
    if (stack.ahead == 0) return;
    require(stack.different_layers() == stack.depth, "output.ahead",
            "needs layers with weights of their own, without share.layers");
    require(!mixes(stack.residual_mix), "output.ahead",
            "needs residual_mix none, since the others have weights for all depths");
    require(!routes(stack.last_layer().feed_forward), "output.ahead",
            "needs a last layer without experts, whose routing only layers report");
    require(stack.last_layer().norm.kind != NormKind::batch, "output.ahead",
            "needs a last layer without norm batch, whose running means would be those of all "
            "heads");
  }

  /// Values that are mixed have one width.
  void check_first_values() const {
    std::optional<int64_t> first;
    for (int64_t i = 0; i < stack.different_layers(); ++i) {
      const auto* heads = std::get_if<MultiHead>(&stack.layer(i).attention);
      if (heads == nullptr || heads->value_residual == ValueResidual::none || heads->heads < 1)
        continue;
      const int64_t width = heads_of(*heads, stack.d_model).value_width();
      require(width == first.value_or(width), path(i) + "attention.value_residual",
              "needs values as wide as those of the first layer that has it: key_value_heads times "
              "d_v");
      first = first.value_or(width);
    }
  }

  void check_residual(const LayerOptions& layer, const std::string& at) const {
    const auto& residual = layer.residual;
    const bool adds =
        std::visit([]<class Held>(const Held&) { return Held::adds; }, stack.residual_mix);
    require(!adds || (residual.skip && layer.norm.placement != NormPlacement::post),
            "residual_mix.kind",
            "can be attention or hyper only if norm.placement is pre or both and residual.skip is "
            "true: they mix what layers add");
    require(!layer.norm.layernorm_scaling || stack.different_layers() == stack.depth,
            at + "norm.layernorm_scaling",
            "needs layers with weights of their own, without share.layers: a layer that runs at "
            "several depths has one number");
    require(layer.norm.kind != NormKind::batch || stack.different_layers() == stack.depth,
            at + "norm.kind",
            "can be batch only in layers with weights of their own, without share.layers: a layer "
            "that runs at several depths has one running mean");
    require(residual.skip || residual.drop == 0, at + "residual.drop",
            "must be 0 if residual.skip is false: a skipped sequence would become zero");
    require(residual.drop == 0 || stack.different_layers() == stack.depth, at + "residual.drop",
            "needs layers with weights of their own, without share.layers: a layer that runs at "
            "several depths has one share");
    require(residual.depth != ResidualDepth::deepnorm ||
                (residual.skip && layer.norm.placement == NormPlacement::post &&
                 layer.norm.kind != NormKind::none),
            at + "residual.depth",
            "can be deepnorm only if residual.skip is true and a norm is placed post");
    require(layer.block == Block::sequential || layer.norm.placement == NormPlacement::pre,
            at + "block", "can be parallel only if norm.placement is pre");
    require(layer.block != Block::parallel || layer.norm.attention, at + "norm.attention",
            "must be true in a parallel block, whose one norm is the attention's");
  }

  void check_feed_forward(const LayerOptions& layer, const std::string& at) const {
    const auto* mixture = std::get_if<MixtureOptions>(&layer.feed_forward);
    if (mixture == nullptr) return;
    require(stack.different_layers() == stack.depth, "share.layers",
            "must be absent if a feed-forward is moe: the routers of shared layers are one");
    if (!stack.causal) return;
    std::visit(
        [&]<class Held>(const Held&) {
          require(Held::causal, at + "router.kind",
                  "cannot be " + std::string(Held::name) +
                      " in a decoder: experts would choose among positions that are still to come");
        },
        mixture->router);
    const auto* limited = std::get_if<LimitedCapacity>(&mixture->capacity);
    require(
        limited == nullptr || !limited->evaluation || limited->keep == Keep::first,
        at + "capacity.keep",
        "must be first if a decoder limits the evaluation: a likelier position may still follow");
  }
};

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
    if (heads != nullptr)
      MultiHead::of_self_attention(*heads,
                                   [&](const char* key, const auto& member, const char* why) {
                                     require(member == std::remove_cvref_t<decltype(member)>(),
                                             at + "cross_attention." + key, why);
                                   });
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
    StackRules{stack_of(o, side), path, require}.check();
  }
}

}  // namespace ablate::models
