#include "experiments/exchange/huggingface/decoder_families.h"

#include <algorithm>

#include "experiments/exchange/huggingface/family_fields.h"

namespace ablate::exchange {

using models::Family;
using models::NormKind;
using models::NormPlacement;

namespace {

/// Every layer sees all positions before it.
void expect_full_attention(ConfigFields& config) {
  config.skip({"max_window_layers", "use_sliding_window"});
  if (const auto kinds = config.find<std::vector<std::string>>("layer_types"))
    if (std::ranges::any_of(*kinds, [](const auto& kind) { return kind != "full_attention"; }))
      config.refuse("layer_types", "has layers that do not see all positions");
  const bool used = config.find<bool>("use_sliding_window").value_or(true);
  if (config.has("sliding_window") && used) config.refuse("sliding_window", "limits the attention");
  config.skip({"sliding_window"});
}

}  // namespace

HubModel read_gpt2(ConfigFields& config) {
  auto model = begin_model(config, "gpt2", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("n_embd");
  o.layers = config.get<int64_t>("n_layer");
  o.attention = models::MultiHead{.heads = config.get<int64_t>("n_head")};
  o.feed_forward =
      models::DenseFeedForward{.d_hidden = config.find<int64_t>("n_inner").value_or(4 * o.d_model),
                               .activation = activation_of(config, "activation_function")};
  o.position = models::Learned{.max_length = config.get<int64_t>("n_positions")};
  o.norm = {.placement = NormPlacement::pre, .epsilon = config.get<double>("layer_norm_epsilon")};
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  config.expect("scale_attn_weights", true);
  config.expect("scale_attn_by_inverse_layer_idx", false);
  config.skip({"attn_pdrop", "embd_pdrop", "n_ctx", "reorder_and_upcast_attn", "resid_pdrop",
               "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
               "summary_type", "summary_use_proj"});
  return model;
}

HubModel read_gpt_neox(ConfigFields& config) {
  auto model = begin_model(config, "gpt_neox", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  const bool bias = config.find<bool>("attention_bias").value_or(true);
  o.attention = models::MultiHead{
      .heads = config.get<int64_t>("num_attention_heads"), .qkv_bias = bias, .output_bias = bias};
  o.feed_forward = models::DenseFeedForward{.d_hidden = config.get<int64_t>("intermediate_size"),
                                            .activation = activation_of(config, "hidden_act")};
  o.position = rotary_of(config);
  o.norm = {.placement = NormPlacement::pre, .epsilon = config.get<double>("layer_norm_eps")};
  o.block = config.find<bool>("use_parallel_residual").value_or(true)
                ? models::Block::parallel_norms
                : models::Block::sequential;
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  config.skip({"attention_dropout", "hidden_dropout", "max_position_embeddings"});
  return model;
}

HubModel read_llama(ConfigFields& config, bool qkv_bias, bool qk_norm) {
  auto model = begin_model(config, "llama", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  o.bias = false;
  models::MultiHead heads{.heads = config.get<int64_t>("num_attention_heads"),
                          .key_value_heads = config.find<int64_t>("num_key_value_heads"),
                          .qk_norm = qk_norm ? models::QkNorm::rms : models::QkNorm::none};
  heads.d_k = heads.d_v = config.find<int64_t>("head_dim");
  if (config.find<bool>("attention_bias").value_or(false))
    heads.qkv_bias = heads.output_bias = true;
  if (qkv_bias) heads.qkv_bias = true;
  o.attention = heads;
  o.feed_forward = models::DenseFeedForward{.d_hidden = config.get<int64_t>("intermediate_size"),
                                            .activation = activation_of(config, "hidden_act"),
                                            .gated = true,
                                            .bias = config.find<bool>("mlp_bias").value_or(false)};
  o.position = rotary_of(config);
  o.norm = {.kind = NormKind::rms,
            .placement = NormPlacement::pre,
            .epsilon = config.get<double>("rms_norm_eps")};
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  expect_full_attention(config);
  config.expect<int64_t>("pretraining_tp", 1);
  config.skip({"attention_dropout", "max_position_embeddings"});
  return model;
}

HubModel read_opt(ConfigFields& config) {
  auto model = begin_model(config, "opt", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  o.bias = config.find<bool>("enable_bias").value_or(true);
  o.attention = models::MultiHead{.heads = config.get<int64_t>("num_attention_heads")};
  o.feed_forward =
      models::DenseFeedForward{.d_hidden = config.get<int64_t>("ffn_dim"),
                               .activation = activation_of(config, "activation_function")};
  o.position = models::Learned{.max_length = config.get<int64_t>("max_position_embeddings")};
  o.norm = {.placement = NormPlacement::pre, .bias = true};
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  config.expect("do_layer_norm_before", true);
  config.expect("_remove_final_layer_norm", false);
  config.expect("layer_norm_elementwise_affine", true);
  config.expect("word_embed_proj_dim", o.d_model);
  config.skip({"activation_dropout", "attention_dropout", "dropout", "layerdrop", "prefix"});
  return model;
}

HubModel read_deepseek(ConfigFields& config) {
  auto model = begin_model(config, "deepseek_v3", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  o.bias = false;
  const auto heads = config.get<int64_t>("num_attention_heads");
  o.attention = models::Latent{.heads = heads,
                               .rank = config.get<int64_t>("kv_lora_rank"),
                               .query_rank = config.find<int64_t>("q_lora_rank"),
                               .d_k = config.get<int64_t>("qk_nope_head_dim"),
                               .shared_d_k = config.get<int64_t>("qk_rope_head_dim"),
                               .d_v = config.get<int64_t>("v_head_dim")};
  o.feed_forward = models::DenseFeedForward{.d_hidden = config.get<int64_t>("intermediate_size"),
                                            .activation = activation_of(config, "hidden_act"),
                                            .gated = true};
  o.position = rotary_of(config);
  // Its norms of latents have this epsilon, whatever the configuration says.
  config.expect("rms_norm_eps", 1e-6);
  o.norm = {.kind = NormKind::rms, .placement = NormPlacement::pre, .epsilon = 1e-6};
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  model.pairs_are_neighbours = config.find<bool>("rope_interleave").value_or(true);
  if (config.get<int64_t>("first_k_dense_replace") < o.layers)
    config.refuse("first_k_dense_replace", "leaves layers of experts, which Ablate does not read");
  config.expect("num_key_value_heads", heads);
  config.expect("attention_bias", false);
  config.skip({"attention_dropout", "head_dim", "max_position_embeddings", "moe_intermediate_size",
               "n_group", "n_routed_experts", "n_shared_experts", "norm_topk_prob",
               "num_experts_per_tok", "num_nextn_predict_layers", "output_router_logits",
               "pretraining_tp", "qk_head_dim", "routed_scaling_factor", "topk_group"});
  return model;
}

HubModel read_mamba2(ConfigFields& config) {
  auto model = begin_model(config, "mamba2", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.get<int64_t>("hidden_size");
  o.layers = config.get<int64_t>("num_hidden_layers");
  o.bias = false;
  const models::Mamba2 mixer{.heads = config.get<int64_t>("num_heads"),
                             .state_size = config.get<int64_t>("state_size"),
                             .expand = config.get<int64_t>("expand")};
  o.attention = mixer;
  o.feed_forward = models::NoFeedForward{};
  o.position = models::NoPosition{};
  o.norm = {.kind = NormKind::rms,
            .placement = NormPlacement::pre,
            .epsilon = config.get<double>("layer_norm_epsilon")};
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  config.expect("conv_kernel", models::Mamba2::width);
  config.expect<int64_t>("n_groups", 1);
  config.expect("use_bias", false);
  if (config.find<bool>("use_conv_bias").value_or(true))
    config.refuse("use_conv_bias", "is true; Ablate's convolutions have no bias");
  config.expect<std::string>("hidden_act", "silu");
  const nlohmann::json no_limit{0.0, {{"__float__", "Infinity"}}};
  config.expect("time_step_limit", no_limit);
  config.skip({"chunk_size", "head_dim", "layer_types", "rescale_prenorm_residual",
               "residual_in_fp32", "time_step_floor", "time_step_max", "time_step_min",
               "time_step_rank"});
  return model;
}

}  // namespace ablate::exchange
