#include "experiments/exchange/huggingface/family.h"

#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <map>

#include "experiments/exchange/huggingface/decoder_families.h"
#include "experiments/exchange/huggingface/family_fields.h"

namespace ablate::exchange {
namespace {

using models::Activation;
using models::Family;
using models::NormKind;
using models::NormPlacement;

HubModel read_bert(ConfigFields& config, const std::set<std::string>& tensors) {
  auto model = begin_model(config, "bert", Family::encoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  o.attention = models::MultiHead{.heads = config.get<int64_t>("num_attention_heads")};
  const auto activation = activation_of(config, "hidden_act");
  o.feed_forward = models::DenseFeedForward{.d_hidden = config.get<int64_t>("intermediate_size"),
                                            .activation = activation};
  o.position = models::Learned{.max_length = config.get<int64_t>("max_position_embeddings")};
  o.norm = {.placement = NormPlacement::post, .epsilon = config.get<double>("layer_norm_eps")};
  o.embedding_norm = models::EmbeddingNorm::layer;
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  if (tensors.contains("cls.predictions.transform.dense.weight"))
    o.output = models::LmHead{{}, true, activation};
  config.expect<std::string>("position_embedding_type", "absolute");
  config.skip({"attention_probs_dropout_prob", "hidden_dropout_prob", "type_vocab_size"});
  return model;
}

/// The position scheme of one kind of ModernBERT's layers.
models::Rotary modernbert_rotary(ConfigFields& config, const std::string& kind, double usual) {
  models::Rotary rotary;
  rotary.base = usual;
  const auto all = config.find<nlohmann::json>("rope_parameters");
  if (all && all->contains(kind)) {
    ConfigFields fields(all->at(kind), config.source() + ": " + kind);
    rotary.base = fields.get<double>("rope_theta");
    fields.expect<std::string>("rope_type", "default");
    fields.finish();
  }
  return rotary;
}

HubModel read_modernbert(ConfigFields& config, const std::set<std::string>& tensors) {
  auto model = begin_model(config, "modernbert", Family::encoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  o.bias = false;
  const bool bias = config.find<bool>("attention_bias").value_or(false);
  models::MultiHead heads{
      .heads = config.get<int64_t>("num_attention_heads"), .qkv_bias = bias, .output_bias = bias};
  o.attention = heads;
  o.feed_forward =
      models::DenseFeedForward{.d_hidden = config.get<int64_t>("intermediate_size"),
                               .activation = activation_of(config, "hidden_activation"),
                               .gated = true,
                               .bias = config.find<bool>("mlp_bias").value_or(false)};
  o.norm = {.placement = NormPlacement::pre,
            .epsilon = config.get<double>("norm_eps"),
            .bias = config.find<bool>("norm_bias").value_or(false)};
  o.embedding_norm = models::EmbeddingNorm::layer;
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  if (tensors.contains("head.dense.weight"))
    o.output = models::LmHead{{},
                              config.find<bool>("decoder_bias").value_or(true),
                              activation_of(config, "classifier_activation")};
  const auto global = modernbert_rotary(
      config, "full_attention", config.find<double>("global_rope_theta").value_or(160'000.0));
  const auto local = modernbert_rotary(config, "sliding_attention",
                                       config.find<double>("local_rope_theta").value_or(10'000.0));
  o.position = global;
  const auto every = config.find<int64_t>("global_attn_every_n_layers").value_or(3);
  const auto kinds = config.find<std::vector<std::string>>("layer_types");
  // A window of 2 n + 1 positions, the query in its middle, is one of distances below n + 1.
  heads.window = config.get<int64_t>("local_attention") / 2 + 1;
  auto& layers = models::own_layers(o, models::Side::encoder);
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool full =
        kinds ? kinds->at(i) == "full_attention" : static_cast<int64_t>(i) % every == 0;
    if (full) continue;
    layers[i].attention = heads;
    layers[i].position = local;
  }
  layers.front().norm.attention = false;
  config.expect("classifier_bias", false);
  config.skip({"attention_dropout", "classifier_pooling", "cls_token_id", "decoder_bias",
               "classifier_activation", "deterministic_flash_attn", "embedding_dropout",
               "initializer_cutoff_factor", "max_position_embeddings", "mlp_dropout",
               "reference_compile", "repad_logits_with_grad", "sep_token_id",
               "sparse_pred_ignore_index", "sparse_prediction", "gradient_checkpointing"});
  return model;
}

HubModel read_marian(ConfigFields& config) {
  auto model = begin_model(config, "marian", Family::encoder_decoder);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("d_model");
  o.encoder_layers = config.get<int64_t>("encoder_layers");
  o.decoder_layers = config.get<int64_t>("decoder_layers");
  o.layers = *o.encoder_layers;
  const auto heads = config.get<int64_t>("encoder_attention_heads");
  config.expect("decoder_attention_heads", heads);
  o.attention = models::MultiHead{.heads = heads};
  const auto hidden = config.get<int64_t>("encoder_ffn_dim");
  config.expect("decoder_ffn_dim", hidden);
  o.feed_forward = models::DenseFeedForward{
      .d_hidden = hidden, .activation = activation_of(config, "activation_function")};
  o.position = models::Sinusoidal{.layout = models::SinusoidalLayout::halves};
  o.norm = {.placement = NormPlacement::post};
  o.embedding_scale = config.find<bool>("scale_embedding").value_or(false);
  o.output = models::LmHead{{}, true, {}};
  config.expect("share_encoder_decoder_embeddings", true);
  config.expect("decoder_vocab_size", model.vocabulary);
  config.expect("normalize_before", false);
  config.expect("normalize_embedding", false);
  config.expect("static_position_embeddings", true);
  config.expect("add_final_layer_norm", false);
  config.expect("add_bias_logits", false);
  config.expect("extra_pos_embeddings", model.vocabulary - 1);
  if (!ties(config, true))
    config.refuse("tie_word_embeddings",
                  "is false, which Ablate does not take from a Marian model");
  config.skip({"activation_dropout", "attention_dropout", "bad_words_ids", "classif_dropout",
               "decoder_layerdrop", "dropout", "encoder_layerdrop", "extra_pos_embeddings",
               "max_length", "max_position_embeddings", "num_beams", "num_hidden_layers"});
  model.special.bos = id_in(config, "decoder_start_token_id");
  if (!model.special.bos) config.refuse("decoder_start_token_id", "is missing");
  return model;
}

HubModel read_t5(ConfigFields& config, const std::set<std::string>& tensors) {
  auto model = begin_model(config, "t5", Family::encoder_decoder);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("d_model");
  o.layers = config.get<int64_t>("num_layers");
  o.decoder_layers = config.find<int64_t>("num_decoder_layers");
  o.bias = false;
  models::MultiHead heads{.heads = config.get<int64_t>("num_heads"), .scale = {.value = 1.0}};
  heads.d_k = heads.d_v = config.get<int64_t>("d_kv");
  o.attention = heads;
  const auto kind = config.get<std::string>("feed_forward_proj");
  const bool gated = kind.starts_with("gated-");
  o.feed_forward = models::DenseFeedForward{
      .d_hidden = config.get<int64_t>("d_ff"),
      .activation =
          kind == "gated-gelu" ? Activation::gelu_tanh : activation_of(config, "dense_act_fn"),
      .gated = gated};
  o.position = models::T5Bias{
      .buckets = config.get<int64_t>("relative_attention_num_buckets"),
      .max_distance = config.find<int64_t>("relative_attention_max_distance").value_or(128)};
  o.norm = {.kind = NormKind::rms,
            .placement = NormPlacement::pre,
            .epsilon = config.get<double>("layer_norm_epsilon")};
  const bool tied = !tensors.contains("lm_head.weight");
  o.tying = tied ? models::Tying::three_way : models::Tying::embeddings;
  models::LmHead head;
  if (config.find<bool>("scale_decoder_outputs").value_or(tied))
    head.scale = 1 / std::sqrt(static_cast<double>(o.d_model));
  o.output = head;
  config.skip(
      {"dense_act_fn", "dropout_rate", "is_gated_act", "n_positions", "tie_word_embeddings"});
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
      {"llama", [&] { return read_llama(config, false, false); }},
      {"mamba2", [&] { return read_mamba2(config); }},
      {"marian", [&] { return read_marian(config); }},
      {"mistral", [&] { return read_llama(config, false, false); }},
      {"modernbert", [&] { return read_modernbert(config, tensors); }},
      {"opt", [&] { return read_opt(config); }},
      {"qwen2", [&] { return read_llama(config, true, false); }},
      {"qwen3", [&] { return read_llama(config, false, true); }},
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
  config.finish();
  return model;
}

}  // namespace ablate::exchange
