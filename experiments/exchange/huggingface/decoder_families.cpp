#include "experiments/exchange/huggingface/decoder_families.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/exchange/huggingface/family_fields.h"

namespace ablate::exchange {

using models::Family;
using models::NormKind;
using models::NormPlacement;

namespace {

constexpr int64_t kDeepseekQueryRank = 1536;  // of a file without q_lora_rank

/// Every layer sees all positions before it.
void expect_full_attention(ConfigFields& config, int64_t layers, const LlamaKind& kind) {
  if (const auto kinds = config.find<std::vector<std::string>>("layer_types")) {
    if (std::ssize(*kinds) != layers)
      config.refuse("layer_types",
                    fmt::format("has {} kinds for {} layers", kinds->size(), layers));
    if (std::ranges::any_of(*kinds, [](const auto& one) { return one != "full_attention"; }))
      config.refuse("layer_types", "has layers that do not see all positions");
  }
  const bool used = config.find<bool>("use_sliding_window").value_or(kind.windowed);
  const bool given = config.has("sliding_window");
  const auto window = kind.window ? config.find_or<int64_t>("sliding_window", *kind.window)
                                  : config.find<int64_t>("sliding_window");
  if (used && window)
    config.refuse(
        "sliding_window",
        given ? "limits the attention"
              : fmt::format("is missing, which stands for {} and limits the attention", *window));
}

/// A field of biases, which families that lack it may not have.
bool has_bias(ConfigFields& config, const std::string& name, bool named) {
  if (!named) config.expect(name, false);
  return config.find<bool>(name).value_or(false);
}

/// A size that another number stands for if the field is missing, and none if it is null.
std::optional<int64_t> size_or(ConfigFields& config, const std::string& name,
                               const std::optional<int64_t>& usual) {
  const auto size = config.find_size(name);
  return size || !usual ? size : config.find_or<int64_t>(name, *usual);
}

}  // namespace

HubModel read_gpt2(ConfigFields& config) {
  auto model = begin_model(config, "gpt2", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.size("n_embd");
  o.layers = layers_in(config, "n_layer");
  o.layer.attention = models::MultiHead{.heads = config.size("n_head")};
  o.layer.feed_forward =
      models::DenseFeedForward{.d_hidden = config.find_size("n_inner").value_or(4 * o.d_model),
                               .activation = activation_of(config, "activation_function")};
  o.layer.position = models::Learned{.max_length = config.size("n_positions")};
  o.layer.norm = {.placement = NormPlacement::pre,
                  .epsilon = config.get<double>("layer_norm_epsilon")};
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  return model;
}

HubModel read_gpt_neox(ConfigFields& config) {
  auto model = begin_model(config, "gpt_neox", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  const bool bias = config.find<bool>("attention_bias").value_or(true);
  const auto heads = config.size("num_attention_heads");
  o.layer.attention = models::MultiHead{.heads = heads, .qkv_bias = bias, .output_bias = bias};
  o.layer.feed_forward =
      models::DenseFeedForward{.d_hidden = config.size("intermediate_size"),
                               .activation = activation_of(config, "hidden_act")};
  o.layer.position = rotary_of(config, {.base = "rotary_emb_base",
                                        .share = "rotary_pct",
                                        .usual_share = 0.25,
                                        .d_k = o.d_model / heads});
  o.layer.norm = {.placement = NormPlacement::pre, .epsilon = config.get<double>("layer_norm_eps")};
  o.layer.block = config.find<bool>("use_parallel_residual").value_or(true)
                      ? models::Block::parallel_norms
                      : models::Block::sequential;
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  return model;
}

HubModel read_llama(ConfigFields& config, const LlamaKind& kind) {
  auto model = begin_model(config, "llama", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  o.bias = false;
  const bool bias = has_bias(config, "attention_bias", kind.names_attention_bias);
  models::MultiHead heads{
      .heads = config.size("num_attention_heads"),
      .key_value_heads = size_or(config, "num_key_value_heads", kind.key_value_heads),
      .qk_norm = kind.qk_norm ? models::QkNorm::rms : models::QkNorm::none,
      .qkv_bias = bias || kind.qkv_bias,
      .output_bias = bias};
  heads.d_k = heads.d_v = size_or(config, "head_dim", kind.d_k);
  o.layer.attention = heads;
  o.layer.feed_forward =
      models::DenseFeedForward{.d_hidden = config.size("intermediate_size"),
                               .activation = activation_of(config, "hidden_act"),
                               .gated = true,
                               .bias = has_bias(config, "mlp_bias", kind.names_mlp_bias)};
  o.layer.position = rotary_of(config);
  o.layer.norm = {.kind = NormKind::rms,
                  .placement = NormPlacement::pre,
                  .epsilon = config.get<double>("rms_norm_eps")};
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  expect_full_attention(config, o.layers, kind);
  return model;
}

HubModel read_opt(ConfigFields& config) {
  auto model = begin_model(config, "opt", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  o.bias = config.find<bool>("enable_bias").value_or(true);
  o.layer.attention = models::MultiHead{.heads = config.size("num_attention_heads")};
  o.layer.feed_forward =
      models::DenseFeedForward{.d_hidden = config.size("ffn_dim"),
                               .activation = activation_of(config, "activation_function")};
  o.layer.position = models::Learned{.max_length = config.size("max_position_embeddings")};
  o.layer.norm = {.placement = NormPlacement::pre, .bias = true};
  o.tying = ties(config, true) ? models::Tying::three_way : models::Tying::none;
  config.expect("word_embed_proj_dim", o.d_model);
  return model;
}

HubModel read_deepseek(ConfigFields& config) {
  auto model = begin_model(config, "deepseek_v3", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  o.bias = false;
  const auto heads = config.size("num_attention_heads");
  o.layer.attention =
      models::Latent{.heads = heads,
                     .rank = config.size("kv_lora_rank"),
                     .query_rank = size_or(config, "q_lora_rank", kDeepseekQueryRank),
                     .d_k = config.size("qk_nope_head_dim"),
                     .shared_d_k = config.size("qk_rope_head_dim"),
                     .d_v = config.size("v_head_dim")};
  o.layer.feed_forward = models::DenseFeedForward{.d_hidden = config.size("intermediate_size"),
                                                  .activation = activation_of(config, "hidden_act"),
                                                  .gated = true};
  o.layer.position = rotary_of(config);
  // Its norms of latents have this epsilon, whatever the configuration says.
  config.expect("rms_norm_eps", 1e-6);
  o.layer.norm = {.kind = NormKind::rms, .placement = NormPlacement::pre, .epsilon = 1e-6};
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  model.pairs_are_neighbours = config.find<bool>("rope_interleave").value_or(true);
  if (config.get<int64_t>("first_k_dense_replace") < o.layers)
    config.refuse("first_k_dense_replace", "leaves layers of experts, which Ablate does not read");
  config.expect("num_key_value_heads", heads);
  config.expect("head_dim", config.size("qk_rope_head_dim"));
  return model;
}

HubModel read_mamba2(ConfigFields& config) {
  auto model = begin_model(config, "mamba2", Family::decoder_only);
  auto& o = model.options;
  o.d_model = config.size("hidden_size");
  o.layers = layers_in(config, "num_hidden_layers");
  o.bias = false;
  const models::Mamba2 mixer{.heads = config.size("num_heads"),
                             .state_size = config.size("state_size"),
                             .expand = config.size("expand")};
  o.layer.attention = mixer;
  o.layer.feed_forward = models::NoFeedForward{};
  o.layer.position = models::NoPosition{};
  o.layer.norm = {.kind = NormKind::rms,
                  .placement = NormPlacement::pre,
                  .epsilon = config.get<double>("layer_norm_epsilon")};
  o.tying = ties(config, false) ? models::Tying::three_way : models::Tying::none;
  config.expect("conv_kernel", models::Mamba2::width);
  if (config.get<int64_t>("n_groups") != 1) config.refuse_value("n_groups");
  config.expect("head_dim", mixer.expand * o.d_model / mixer.heads);
  if (config.find<bool>("use_conv_bias").value_or(true))
    config.refuse("use_conv_bias", "is true; Ablate's convolutions have no bias");
  return model;
}

}  // namespace ablate::exchange
