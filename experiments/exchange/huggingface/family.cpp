#include "experiments/exchange/huggingface/family.h"

#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <map>

#include "experiments/exchange/huggingface/decoder_families.h"
#include "experiments/exchange/huggingface/family_fields.h"
#include "experiments/exchange/huggingface/one_form.h"

namespace ablate::exchange {
namespace {

using models::Activation;
using models::Family;
using models::NormKind;
using models::NormPlacement;

HubModel read_bert(ConfigFields& config, const std::set<std::string>& tensors) {
  auto model = begin_model(config, "bert", Family::encoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  o.layer.attention = models::MultiHead{.heads = config.size("num_attention_heads")};
  const auto activation = activation_of(config, "hidden_act");
  o.layer.feed_forward = models::DenseFeedForward{.d_hidden = config.size("intermediate_size"),
                                                  .activation = activation};
  o.layer.position = models::Learned{.max_length = config.size("max_position_embeddings")};
  o.layer.norm = {.placement = NormPlacement::post,
                  .epsilon = config.get<double>("layer_norm_eps")};
  o.token_types = config.find<int64_t>("type_vocab_size").value_or(kBertTypes);
  o.embedding_norm = models::EmbeddingNorm::layer;
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  if (has_token_head(config, tensors, "cls.predictions.transform.dense.weight"))
    o.output = models::LmHead{{}, true, activation};
  return model;
}

/// A kind of ModernBERT's layers.
struct ModernBertLayers {
  std::string kind, older_base;
  double usual_base;
};

models::Rotary modernbert_rotary(ConfigFields& config, ConfigFields& kinds,
                                 const ModernBertLayers& layers) {
  models::Rotary rotary;
  const auto older = config.find<double>(layers.older_base);
  rotary.base = older.value_or(layers.usual_base);
  const auto given = kinds.find<nlohmann::json>(layers.kind);
  if (!given) return rotary;
  ConfigFields fields(*given, kinds.source() + ": " + layers.kind);
  if (const auto base = fields.find<double>("rope_theta")) {
    if (older && *older != *base)
      config.refuse(layers.older_base, "differs from that of rope_parameters");
    rotary.base = *base;
  }
  fields.expect<std::string>("rope_type", "default");
  fields.finish();
  return rotary;
}

/// Whether each layer of a ModernBERT sees all positions; the others have a window.
std::vector<bool> modernbert_sees_all(ConfigFields& config, int64_t layers) {
  const auto every = config.find<int64_t>("global_attn_every_n_layers");
  if (every && *every < 1) config.refuse("global_attn_every_n_layers", "must be at least 1");
  const auto kinds = config.find<std::vector<std::string>>("layer_types");
  if (kinds && std::ssize(*kinds) != layers)
    config.refuse("layer_types", fmt::format("has {} kinds for {} layers", kinds->size(), layers));
  std::vector<bool> all;
  for (int64_t i = 0; i < layers; ++i) {
    all.push_back(i % every.value_or(3) == 0);
    if (!kinds) continue;
    const auto& kind = (*kinds)[static_cast<size_t>(i)];
    const bool full = kind == "full_attention";
    if (!full && kind != "sliding_attention")
      config.refuse("layer_types",
                    fmt::format("has the kind '{}', which Ablate does not have", kind));
    if (every && full != all.back())
      config.refuse("layer_types", "differs from global_attn_every_n_layers");
    all.back() = full;
  }
  return all;
}

/// The layers with a window, and the positions of both kinds.
void read_modernbert_layers(ConfigFields& config, models::TransformerOptions& o) {
  ConfigFields kinds(
      config.find<nlohmann::json>("rope_parameters").value_or(nlohmann::json::object()),
      config.source() + ": rope_parameters");
  o.layer.position =
      modernbert_rotary(config, kinds, {"full_attention", "global_rope_theta", 160'000.0});
  const auto local =
      modernbert_rotary(config, kinds, {"sliding_attention", "local_rope_theta", 10'000.0});
  kinds.finish();
  const auto width = config.get<int64_t>("local_attention");
  if (width < 2) config.refuse("local_attention", "must be at least 2");
  auto heads = std::get<models::MultiHead>(o.layer.attention);
  // A window of 2 n + 1 positions, the query in its middle, is one of distances below n + 1.
  heads.window = width / 2 + 1;
  const auto sees_all = modernbert_sees_all(config, o.layers);
  auto& layers = models::own_layers(o, models::Side::encoder);
  for (size_t i = 0; i < layers.size(); ++i) {
    if (sees_all[i]) continue;
    layers[i].attention = heads;
    layers[i].position = local;
  }
  layers.front().norm.attention = false;
}

HubModel read_modernbert(ConfigFields& config, const std::set<std::string>& tensors) {
  auto model = begin_model(config, "modernbert", Family::encoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  o.bias = false;
  const bool bias = config.find<bool>("attention_bias").value_or(false);
  o.layer.attention = models::MultiHead{
      .heads = config.size("num_attention_heads"), .qkv_bias = bias, .output_bias = bias};
  o.layer.feed_forward =
      models::DenseFeedForward{.d_hidden = config.size("intermediate_size"),
                               .activation = activation_of(config, "hidden_activation"),
                               .gated = true,
                               .bias = config.find<bool>("mlp_bias").value_or(false)};
  o.layer.norm = {.placement = NormPlacement::pre,
                  .epsilon = config.get<double>("norm_eps"),
                  .bias = config.find<bool>("norm_bias").value_or(false)};
  o.embedding_norm = models::EmbeddingNorm::layer;
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  const bool output_bias = config.find<bool>("decoder_bias").value_or(true);
  const auto activation = config.find<std::string>("classifier_activation").value_or("gelu");
  if (has_token_head(config, tensors, "head.dense.weight"))
    o.output = models::LmHead{
        {}, output_bias, activation_named(config, "classifier_activation", activation)};
  read_modernbert_layers(config, o);
  return model;
}

HubModel read_marian(ConfigFields& config) {
  auto model = begin_model(config, "marian", Family::encoder_decoder);
  auto& o = model.options;
  o.d_model = config.size("d_model");
  o.encoder_layers = layers_in(config, "encoder_layers");
  o.decoder_layers = layers_in(config, "decoder_layers");
  o.layers = *o.encoder_layers;
  config.expect("num_hidden_layers", o.layers);
  const auto heads = config.size("encoder_attention_heads");
  config.expect("decoder_attention_heads", heads);
  o.layer.attention = models::MultiHead{.heads = heads};
  const auto hidden = config.size("encoder_ffn_dim");
  config.expect("decoder_ffn_dim", hidden);
  o.layer.feed_forward = models::DenseFeedForward{
      .d_hidden = hidden, .activation = activation_of(config, "activation_function")};
  o.layer.position = models::Sinusoidal{.layout = models::SinusoidalLayout::halves};
  o.layer.norm = {.placement = NormPlacement::post};
  o.embedding_scale = config.find<bool>("scale_embedding").value_or(false);
  o.output = models::LmHead{{}, true, {}};
  config.expect("decoder_vocab_size", model.vocabulary);
  model.special.bos = id_in(config, "decoder_start_token_id");
  if (!model.special.bos) config.refuse("decoder_start_token_id", "is missing");
  return model;
}

/// The feed-forward network of a T5, whose activation two more fields may name once more.
models::DenseFeedForward t5_network(ConfigFields& config) {
  const auto kind = config.find<std::string>("feed_forward_proj").value_or("relu");
  const bool gated = kind.starts_with("gated-");
  const auto word = gated ? kind.substr(kind.find('-') + 1) : kind;
  const auto name = kind == "gated-gelu" ? std::string("gelu_new") : word;
  config.expect("dense_act_fn", name);
  config.expect("is_gated_act", gated);
  return {.d_hidden = config.size("d_ff"),
          .activation = activation_named(config, "feed_forward_proj", name),
          .gated = gated};
}

/// Where its file says whether outputs are scaled, Transformers 5 has written it, and always that
/// they are the embedding, also of models whose output is a matrix of its own.
void read_t5_output(ConfigFields& config, bool has_matrix, models::TransformerOptions& o) {
  const auto scaled = config.find<bool>("scale_decoder_outputs");
  const bool said = ties(config, true);
  const bool tied = scaled && said ? !has_matrix : said;
  o.tying = tied ? models::Tying::three_way : models::Tying::embeddings;
  models::LmHead head;
  if (scaled.value_or(said)) head.scale = 1 / std::sqrt(static_cast<double>(o.d_model));
  o.output = head;
}

HubModel read_t5(ConfigFields& config, const std::set<std::string>& tensors) {
  auto model = begin_model(config, "t5", Family::encoder_decoder);
  auto& o = model.options;
  o.d_model = config.size("d_model");
  o.layers = layers_in(config, "num_layers");
  if (config.has("num_decoder_layers")) o.decoder_layers = layers_in(config, "num_decoder_layers");
  o.bias = false;
  models::MultiHead heads{.heads = config.size("num_heads"), .scale = {.value = 1.0}};
  heads.d_k = heads.d_v = config.size("d_kv");
  o.layer.attention = heads;
  o.layer.feed_forward = t5_network(config);
  o.layer.position = models::T5Bias{
      .buckets = config.size("relative_attention_num_buckets"),
      .max_distance = config.find<int64_t>("relative_attention_max_distance").value_or(128)};
  o.layer.norm = {.kind = NormKind::rms,
                  .placement = NormPlacement::pre,
                  .epsilon = config.get<double>("layer_norm_epsilon")};
  read_t5_output(config, tensors.contains("lm_head.weight"), o);
  model.special.bos =
      id_in(config, "decoder_start_token_id").value_or(model.special.pad.value_or(0));
  return model;
}

}  // namespace

HubModel read_family(ConfigFields& config, const std::set<std::string>& tensors) {
  const std::map<std::string, std::function<HubModel()>> families{
      {"bert", [&] { return read_bert(config, tensors); }},
      {"deepseek_v3", [&] { return read_deepseek(config); }},
      {"gpt2", [&] { return read_gpt2(config); }},
      {"gpt_neox", [&] { return read_gpt_neox(config); }},
      {"llama", [&] { return read_llama(config, kLlama); }},
      {"mamba2", [&] { return read_mamba2(config); }},
      {"marian", [&] { return read_marian(config); }},
      {"mistral", [&] { return read_llama(config, kMistral); }},
      {"modernbert", [&] { return read_modernbert(config, tensors); }},
      {"opt", [&] { return read_opt(config); }},
      {"qwen2", [&] { return read_llama(config, kQwen2); }},
      {"qwen3", [&] { return read_llama(config, kQwen3); }},
      {"t5", [&] { return read_t5(config, tensors); }}};
  const auto type = config.get<std::string>("model_type");
  const auto found = families.find(type);
  if (found == families.end()) {
    std::vector<std::string> names;
    for (const auto& [name, read] : families) names.push_back(name);
    config.refuse("model_type",
                  fmt::format("is '{}'; Ablate reads {}", type, fmt::join(names, ", ")));
  }
  auto model = found->second();
  config.skip({"architectures"});
  config.finish();
  require_rules(options::slot_of(model.options), "model", config.source());
  return model;
}

}  // namespace ablate::exchange
