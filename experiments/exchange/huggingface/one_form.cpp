#include "experiments/exchange/huggingface/one_form.h"

#include <variant>

namespace ablate::exchange {
namespace {

using models::Side;

bool gives_biases(const models::TransformerOptions& o) {
  return !std::holds_alternative<models::Latent>(o.layer.attention) &&
         !std::holds_alternative<models::Mamba2>(o.layer.attention);
}

bool transforms(const models::TransformerOptions& o) {
  const auto* head = std::get_if<models::LmHead>(&o.output);
  return head != nullptr && head->transform;
}

void collapse(models::TransformerOptions& o, models::SideLayers& list, Side side) {
  // Only a decoder's layers have an attention over the encoder's output.
  if (side == Side::encoder) list.front().cross_attention = o.layer.cross_attention;
  o.layer = list.front();
  list.clear();
}

void complete_layer(models::LayerOptions& layer, const models::TransformerOptions& o) {
  if (auto* heads = std::get_if<models::MultiHead>(&layer.attention)) {
    heads->d_k = heads->d_k.value_or(o.d_model / heads->heads);
    heads->d_v = heads->d_v.value_or(o.d_model / heads->heads);
    heads->key_value_heads = heads->key_value_heads.value_or(heads->heads);
    heads->qkv_bias = heads->qkv_bias.value_or(o.bias);
    heads->output_bias = heads->output_bias.value_or(o.bias);
    heads->dropout = 0;
  }
  if (auto* latent = std::get_if<models::Latent>(&layer.attention)) {
    const auto widths = models::widths_of(*latent, o.d_model);
    latent->rank = widths.rank;
    latent->d_k = widths.d_k;
    latent->shared_d_k = widths.shared;
    latent->d_v = widths.d_v;
    latent->dropout = 0;
  }
  if (auto* dense = std::get_if<models::DenseFeedForward>(&layer.feed_forward)) {
    dense->bias = dense->bias.value_or(o.bias);
    dense->dropout = 0;
  }
  auto& norm = layer.norm;
  norm.bias = norm.kind != models::NormKind::rms && norm.bias.value_or(o.bias);
  norm.alpha = models::NormOptions().alpha;
  layer.residual.drop = 0;
  if (auto* learned = std::get_if<models::Learned>(&layer.position)) learned->deviation = {};
}

}  // namespace

models::TransformerOptions in_one_form(models::TransformerOptions o) {
  for (const auto side : {Side::encoder, Side::decoder}) {
    auto& list = side == Side::encoder ? o.encoder : o.decoder;
    if (!list.empty() && models::are_alike(list)) collapse(o, list, side);
    for (auto& layer : list) complete_layer(layer, o);
  }
  complete_layer(o.layer, o);
  const bool pair = o.family == models::Family::encoder_decoder;
  const auto own = o.family == models::Family::decoder_only ? Side::decoder : Side::encoder;
  const auto encoder = models::depth_of(o, own), decoder = models::depth_of(o, Side::decoder);
  o.layers = encoder;
  o.encoder_layers = o.decoder_layers = {};
  if (pair && decoder != encoder) o.decoder_layers = decoder;
  if (!transforms(o) && gives_biases(o)) o.bias = true;  // everything that it decides is given
  // A text without a type has the first type's vector, which is of zeros.
  if (o.family == models::Family::encoder_only && o.token_types == 0) o.token_types = kBertTypes;
  o.dropout = 0;
  o.embedding_dropout = {};
  o.final_dropout = 0;
  o.initialization = {};
  return o;
}

}  // namespace ablate::exchange
