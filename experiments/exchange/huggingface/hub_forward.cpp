#include "experiments/exchange/huggingface/hub_forward.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "experiments/exchange/huggingface/hub_layers.h"
#include "training/device.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;
using torch::Tensor;
using training::CheckpointError;

/// One pass of a model with this configuration.
struct Pass {
  const json& config;
  HubTensors& w;
  const HubInput& in;

  template <class T>
  T get(const char* name) const {
    return config.at(name).get<T>();
  }
  int64_t integer(const char* name) const { return get<int64_t>(name); }
  Tensor embedded(const std::string& name, const Tensor& ids) const {
    return torch::embedding(w(name), ids);
  }
  /// The vectors of the first positions, from a table that Transformers makes with so many rows.
  Tensor positions(const std::string& name, int64_t length, const char* rows) const {
    const auto table = w(name);
    if (table.size(0) != integer(rows))
      throw CheckpointError(
          fmt::format("Transformers makes '{}' with {} rows, as {} says, and the file has {}", name,
                      integer(rows), rows, table.size(0)));
    return torch::embedding(table, torch::arange(length));
  }
  Tensor activated(const char* name, const Tensor& x) const {
    return hub_activation(get<std::string>(name), x);
  }
  /// The output, which is another tensor's product if both are tied.
  Tensor projected(const Tensor& x, const std::string& output, const std::string& tied,
                   bool usual) const {
    const auto y = in.last > 0 ? x.slice(1, -in.last) : x;
    return y.matmul(w(config.value("tie_word_embeddings", usual) ? tied : output).t());
  }
};

std::string layer_name(const std::string& stack, int64_t layer) {
  return fmt::format("{}.{}.", stack, layer);
}

/// `heads` of queries, a divisor of them of keys and values; all projections have biases or none.
struct Projections {
  std::string at;   // "model.layers.0.self_attn."
  std::string out;  // "o_proj"
  int64_t heads;
  bool bias = true;
};

/// Attention whose queries, keys and values are maps of their own, as Marian's, T5's and BERT's.
Tensor attention(const Pass& p, const Projections& o, const std::array<const char*, 3>& names,
                 const std::array<Tensor, 2>& read, const HubAttention& how) {
  const auto of = [&](size_t i, const Tensor& x) {
    return heads_of(p.w.linear(x, o.at + names[i], o.bias), o.heads);
  };
  auto attention = how;
  attention.query = of(0, read[0]);
  attention.key = of(1, read[1]);
  attention.value = of(2, read[1]);
  return p.w.linear(attention(), o.at + o.out, o.bias);
}

Tensor gated(const Pass& p, const Tensor& x, const std::string& at, bool bias) {
  const auto gate = p.activated("hidden_act", p.w.linear(x, at + "gate_proj", bias));
  return p.w.linear(gate * p.w.linear(x, at + "up_proj", bias), at + "down_proj", bias);
}

/// A decoder as Llama's, in which attended(y, "model.layers.0.self_attn.") reads the norm's output.
Tensor llama_decoder(const Pass& p, bool mlp_bias, const auto& attended) {
  const double epsilon = p.get<double>("rms_norm_eps");
  auto x = p.embedded("model.embed_tokens.weight", p.in.ids);
  for (int64_t i = 0; i < p.integer("num_hidden_layers"); ++i) {
    const auto at = layer_name("model.layers", i);
    x = x + attended(p.w.rms_norm(x, at + "input_layernorm", epsilon), at + "self_attn.");
    x = x +
        gated(p, p.w.rms_norm(x, at + "post_attention_layernorm", epsilon), at + "mlp.", mlp_bias);
  }
  return p.projected(p.w.rms_norm(x, "model.norm", epsilon), "lm_head.weight",
                     "model.embed_tokens.weight", false);
}

/// Parts that every model of its class has, and fields that the class reads.
struct LlamaKind {
  bool qkv_bias = false, qk_norm = false, reads_attention_bias = true, reads_mlp_bias = false;
};

/// LlamaForCausalLM, Qwen2ForCausalLM and Qwen3ForCausalLM.
Tensor llama(const Pass& p) {
  static const std::map<std::string, LlamaKind> kKinds{
      {"llama", {.reads_mlp_bias = true}},
      {"qwen2", {.qkv_bias = true, .reads_attention_bias = false}},
      {"qwen3", {.qk_norm = true}}};
  const auto& kind = kKinds.at(p.get<std::string>("model_type"));
  const bool all_biased = kind.reads_attention_bias && p.config.value("attention_bias", false);
  const bool biased = kind.qkv_bias || all_biased;
  const bool mlp_bias = kind.reads_mlp_bias && p.config.value("mlp_bias", false);
  const int64_t heads = p.integer("num_attention_heads"), groups = p.integer("num_key_value_heads");
  const HubRotary rotary(p.config, p.config.value("head_dim", p.integer("hidden_size") / heads));
  const auto visible = visible_keys(p.in.mask, true);
  return llama_decoder(p, mlp_bias, [&](const Tensor& y, const std::string& at) {
    const auto turned = [&](const std::string& name, int64_t count) {
      auto z = heads_of(p.w.linear(y, at + name + "_proj", biased), count);
      if (kind.qk_norm) z = p.w.rms_norm(z, at + name + "_norm", p.get<double>("rms_norm_eps"));
      return rotary(z);
    };
    const HubAttention read{.query = turned("q", heads),
                            .key = turned("k", groups),
                            .value = heads_of(p.w.linear(y, at + "v_proj", biased), groups),
                            .visible = visible};
    return p.w.linear(read(), at + "o_proj", all_biased);
  });
}

/// DeepseekV3ForCausalLM of dense layers, whose norms of latents have an epsilon of their own.
Tensor deepseek(const Pass& p) {
  constexpr double kLatentEpsilon = 1e-6;
  if (p.integer("first_k_dense_replace") < p.integer("num_hidden_layers"))
    throw CheckpointError("config.json leaves layers of experts (first_k_dense_replace)");
  const int64_t heads = p.integer("num_attention_heads"), rank = p.integer("kv_lora_rank");
  const int64_t own = p.integer("qk_nope_head_dim"), shared = p.integer("qk_rope_head_dim");
  const bool neighbours = p.config.value("rope_interleave", true);
  const HubRotary rotary(p.config, shared);
  const auto visible = visible_keys(p.in.mask, true);
  return llama_decoder(p, /*mlp_bias=*/false, [&](const Tensor& y, const std::string& at) {
    const auto queries = [&] {
      if (p.config.at("q_lora_rank").is_null()) return p.w.linear(y, at + "q_proj", false);
      const auto latent = p.w.linear(y, at + "q_a_proj", false);
      return p.w.linear(p.w.rms_norm(latent, at + "q_a_layernorm", kLatentEpsilon), at + "q_b_proj",
                        false);
    };
    const auto query = heads_of(queries(), heads).split_with_sizes({own, shared}, -1);
    const auto low =
        p.w.linear(y, at + "kv_a_proj_with_mqa", false).split_with_sizes({rank, shared}, -1);
    const auto latent = p.w.rms_norm(low[0], at + "kv_a_layernorm", kLatentEpsilon);
    const auto both = heads_of(p.w.linear(latent, at + "kv_b_proj", false), heads);
    const auto common = rotary(low[1].unsqueeze(1), neighbours).expand({-1, heads, -1, -1});
    const HubAttention read{.query = torch::cat({query[0], rotary(query[1], neighbours)}, -1),
                            .key = torch::cat({both.slice(-1, 0, own), common}, -1),
                            .value = both.slice(-1, own),
                            .visible = visible};
    return p.w.linear(read(), at + "o_proj", false);
  });
}

/// What a state-space mixer of Mamba-2 with one group writes, position for position.
Tensor scanned(const Pass& p, const Tensor& x, const std::string& at, double epsilon) {
  const int64_t heads = p.integer("num_heads"), state_size = p.integer("state_size");
  const int64_t width = p.integer("expand") * p.integer("hidden_size");
  const auto parts = p.w.linear(x, at + "in_proj", false)
                         .split_with_sizes({width, width + 2 * state_size, heads}, -1);
  const int64_t taps = p.integer("conv_kernel");
  const auto past = torch::constant_pad_nd(parts[1].transpose(1, 2), {taps - 1, 0});
  const auto filter = p.w(at + "conv1d.weight").transpose(0, 1);  // [1, C, W]
  const auto convolved = (past.unfold(2, taps, 1) * filter.unsqueeze(2)).sum(-1).transpose(1, 2);
  const auto mixed =
      p.activated("hidden_act", convolved).split_with_sizes({width, state_size, state_size}, -1);
  const auto value = mixed[0].unflatten(-1, {heads, -1});                  // [B, T, H, W]
  const auto step = torch::log1p((parts[2] + p.w(at + "dt_bias")).exp());  // [B, T, H]
  const auto kept = (-p.w(at + "A_log").exp() * step).exp();
  auto state = torch::zeros({x.size(0), heads, value.size(-1), state_size}, torch::kDouble);
  std::vector<Tensor> written;
  for (int64_t t = 0; t < x.size(1); ++t) {
    const auto of = [&](const Tensor& y) { return y.select(1, t); };
    const auto added =
        (of(value) * of(step).unsqueeze(-1)).unsqueeze(-1) * of(mixed[1]).unsqueeze(1).unsqueeze(1);
    state = state * of(kept).unsqueeze(-1).unsqueeze(-1) + added;
    written.push_back((state * of(mixed[2]).unsqueeze(1).unsqueeze(1)).sum(-1));
  }
  const auto all = torch::stack(written, 1) + value * p.w(at + "D").unsqueeze(-1);
  const auto normed =
      p.w.rms_norm(all.flatten(2) * hub_activation("silu", parts[0]), at + "norm", epsilon);
  return p.w.linear(normed, at + "out_proj", false);
}

/// Mamba2ForCausalLM.
Tensor mamba2(const Pass& p) {
  const double epsilon = p.get<double>("layer_norm_epsilon");
  auto x = p.embedded("backbone.embeddings.weight", p.in.ids);
  for (int64_t i = 0; i < p.integer("num_hidden_layers"); ++i) {
    const auto at = layer_name("backbone.layers", i);
    x = x + scanned(p, p.w.rms_norm(x, at + "norm", epsilon), at + "mixer.", epsilon);
  }
  return p.projected(p.w.rms_norm(x, "backbone.norm_f", epsilon), "lm_head.weight",
                     "backbone.embeddings.weight", false);
}

/// GPT2LMHeadModel.
Tensor gpt2(const Pass& p) {
  const double epsilon = p.get<double>("layer_norm_epsilon");
  const auto visible = visible_keys(p.in.mask, true);
  auto x = p.embedded("transformer.wte.weight", p.in.ids) +
           p.positions("transformer.wpe.weight", p.in.ids.size(1), "n_positions");
  for (int64_t i = 0; i < p.integer("n_layer"); ++i) {
    const auto at = layer_name("transformer.h", i);
    const auto parts =
        p.w.transposed_linear(p.w.layer_norm(x, at + "ln_1", epsilon), at + "attn.c_attn")
            .chunk(3, -1);
    const auto of = [&](size_t part) { return heads_of(parts[part], p.integer("n_head")); };
    const HubAttention read{.query = of(0), .key = of(1), .value = of(2), .visible = visible};
    x = x + p.w.transposed_linear(read(), at + "attn.c_proj");
    const auto up = p.w.transposed_linear(p.w.layer_norm(x, at + "ln_2", epsilon), at + "mlp.c_fc");
    x = x + p.w.transposed_linear(p.activated("activation_function", up), at + "mlp.c_proj");
  }
  return p.projected(p.w.layer_norm(x, "transformer.ln_f", epsilon), "lm_head.weight",
                     "transformer.wte.weight", true);
}

/// GPTNeoXForCausalLM, which turns a quarter of the channels if nothing else is said.
Tensor gpt_neox(const Pass& p) {
  const int64_t heads = p.integer("num_attention_heads");
  const double epsilon = p.get<double>("layer_norm_eps");
  const bool bias = p.config.value("attention_bias", true);
  const HubRotary rotary(p.config, p.integer("hidden_size") / heads, 0.25);
  const auto visible = visible_keys(p.in.mask, true);
  auto x = p.embedded("gpt_neox.embed_in.weight", p.in.ids);
  for (int64_t i = 0; i < p.integer("num_hidden_layers"); ++i) {
    const auto at = layer_name("gpt_neox.layers", i);
    const auto parts = heads_of(p.w.linear(p.w.layer_norm(x, at + "input_layernorm", epsilon),
                                           at + "attention.query_key_value", bias),
                                heads)
                           .chunk(3, -1);
    const HubAttention read{
        .query = rotary(parts[0]), .key = rotary(parts[1]), .value = parts[2], .visible = visible};
    const auto attended = p.w.linear(read(), at + "attention.dense", bias);
    const auto mlp = [&](const Tensor& y) {
      const auto up = p.w.linear(p.w.layer_norm(y, at + "post_attention_layernorm", epsilon),
                                 at + "mlp.dense_h_to_4h", true);
      return p.w.linear(p.activated("hidden_act", up), at + "mlp.dense_4h_to_h", true);
    };
    x = p.config.value("use_parallel_residual", true) ? x + attended + mlp(x)
                                                      : x + attended + mlp(x + attended);
  }
  return p.projected(p.w.layer_norm(x, "gpt_neox.final_layer_norm", epsilon), "embed_out.weight",
                     "gpt_neox.embed_in.weight", false);
}

/// BertForMaskedLM, whose output has a bias beside it if it is tied, and of its own otherwise.
Tensor bert(const Pass& p) {
  const double epsilon = p.get<double>("layer_norm_eps");
  const auto visible = visible_keys(p.in.mask, false);
  const std::string embeddings = "bert.embeddings.", head = "cls.predictions.";
  auto x = p.w.layer_norm(p.embedded(embeddings + "word_embeddings.weight", p.in.ids) +
                              p.positions(embeddings + "position_embeddings.weight",
                                          p.in.ids.size(1), "max_position_embeddings") +
                              p.w(embeddings + "token_type_embeddings.weight")[0],
                          embeddings + "LayerNorm", epsilon);
  for (int64_t i = 0; i < p.integer("num_hidden_layers"); ++i) {
    const auto at = layer_name("bert.encoder.layer", i);
    const Projections maps{
        .at = at + "attention.", .out = "output.dense", .heads = p.integer("num_attention_heads")};
    x = p.w.layer_norm(x + attention(p, maps, {"self.query", "self.key", "self.value"}, {x, x},
                                     {.visible = visible}),
                       at + "attention.output.LayerNorm", epsilon);
    const auto up = p.activated("hidden_act", p.w.linear(x, at + "intermediate.dense", true));
    x = p.w.layer_norm(x + p.w.linear(up, at + "output.dense", true), at + "output.LayerNorm",
                       epsilon);
  }
  x = p.activated("hidden_act", p.w.linear(x, head + "transform.dense", true));
  x = p.w.layer_norm(x, head + "transform.LayerNorm", epsilon);
  const auto beside = p.w(head + "bias");
  const bool tied = p.config.value("tie_word_embeddings", true);
  return p.projected(x, head + "decoder.weight", embeddings + "word_embeddings.weight", true) +
         (tied ? beside : p.w(head + "decoder.bias"));
}

/// One stack of MarianMTModel; a decoder reads `memory`, which is undefined of an encoder.
Tensor marian_stack(const Pass& p, const std::string& side, const Tensor& ids,
                    const Tensor& memory) {
  constexpr double kEpsilon = 1e-5;
  const bool decodes = memory.defined();
  const double width = p.get<double>("d_model");
  const auto field = [&](const char* end) { return p.integer((side + end).c_str()); };
  auto x = p.embedded("model.shared.weight", ids) *
               (p.config.value("scale_embedding", false) ? std::sqrt(width) : 1.0) +
           p.positions("model." + side + ".embed_positions.weight", ids.size(1),
                       "max_position_embeddings");
  const auto shown = decodes ? torch::ones_like(ids) : p.in.mask;
  for (int64_t i = 0; i < field("_layers"); ++i) {
    const auto at = layer_name("model." + side + ".layers", i);
    const auto attended = [&](const char* name, const Tensor& read, const Tensor& visible) {
      const Projections maps{
          .at = at + name + ".", .out = "out_proj", .heads = field("_attention_heads")};
      return p.w.layer_norm(
          x + attention(p, maps, {"q_proj", "k_proj", "v_proj"}, {x, read}, {.visible = visible}),
          at + name + "_layer_norm", kEpsilon);
    };
    x = attended("self_attn", x, visible_keys(shown, decodes));
    if (decodes) x = attended("encoder_attn", memory, visible_keys(p.in.mask, false));
    const auto up = p.activated("activation_function", p.w.linear(x, at + "fc1", true));
    x = p.w.layer_norm(x + p.w.linear(up, at + "fc2", true), at + "final_layer_norm", kEpsilon);
  }
  return x;
}

/// MarianMTModel with one vocabulary.
Tensor marian(const Pass& p) {
  const auto memory = marian_stack(p, "encoder", p.in.ids, {});
  const auto x = marian_stack(p, "decoder", p.in.target, memory);
  return p.projected(x, "lm_head.weight", "model.shared.weight", true) + p.w("final_logits_bias");
}

Tensor gated_feed_forward_of_t5(const Pass& p, const Tensor& x, const std::string& at) {
  const auto kind = p.get<std::string>("feed_forward_proj");
  const bool gated = kind.starts_with("gated-");
  const std::string implied = kind == "gated-gelu" ? "gelu_new" : gated ? kind.substr(6) : kind;
  const auto name = p.config.value("dense_act_fn", implied);
  const auto first = p.w.linear(x, at + (gated ? "wi_0" : "wi"), false);
  auto up = hub_activation(name, first);
  if (gated) up = up * p.w.linear(x, at + "wi_1", false);
  return p.w.linear(up, at + "wo", false);
}

/// One stack of T5ForConditionalGeneration, as marian_stack().
Tensor t5_stack(const Pass& p, const std::string& side, const Tensor& ids, const Tensor& memory) {
  const bool decodes = memory.defined();
  const double epsilon = p.get<double>("layer_norm_epsilon");
  const auto table = p.w(side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight");
  const auto bias = t5_bias(p.config, table, ids.size(1), decodes);
  const auto shown = decodes ? torch::ones_like(ids) : p.in.mask;
  auto x = p.embedded("shared.weight", ids);
  for (int64_t i = 0; i < p.integer(decodes ? "num_decoder_layers" : "num_layers"); ++i) {
    const auto at = layer_name(side + ".block", i);
    int64_t number = 0;
    const auto next = [&] { return layer_name(at + "layer", number++); };
    const auto attended = [&](const char* name, const Tensor& read, const HubAttention& how) {
      const auto own = next();
      const auto y = p.w.rms_norm(x, own + "layer_norm", epsilon);
      const Projections maps{
          .at = own + name + ".", .out = "o", .heads = p.integer("num_heads"), .bias = false};
      return x + attention(p, maps, {"q", "k", "v"}, {y, read.defined() ? read : y}, how);
    };
    x = attended("SelfAttention", {},
                 {.visible = visible_keys(shown, decodes), .scaled = false, .bias = bias});
    if (decodes)
      x = attended("EncDecAttention", memory,
                   {.visible = visible_keys(p.in.mask, false), .scaled = false});
    const auto own = next();
    x = x + gated_feed_forward_of_t5(p, p.w.rms_norm(x, own + "layer_norm", epsilon),
                                     own + "DenseReluDense.");
  }
  return p.w.rms_norm(x, side + ".final_layer_norm", epsilon);
}

/// T5ForConditionalGeneration, which scales outputs unless it is said not to.
Tensor t5(const Pass& p) {
  const auto memory = t5_stack(p, "encoder", p.in.ids, {});
  auto x = t5_stack(p, "decoder", p.in.target, memory);
  if (p.config.value("scale_decoder_outputs", p.config.value("tie_word_embeddings", true)))
    x = x / std::sqrt(p.get<double>("d_model"));
  return p.projected(x, "lm_head.weight", "shared.weight", true);
}

}  // namespace

Tensor hub_logits(const json& config, const training::Tensors& tensors, const HubInput& input) {
  static const std::map<std::string, std::function<Tensor(const Pass&)>> families{
      {"bert", bert},     {"deepseek_v3", deepseek},
      {"gpt2", gpt2},     {"gpt_neox", gpt_neox},
      {"llama", llama},   {"mamba2", mamba2},
      {"marian", marian}, {"qwen2", llama},
      {"qwen3", llama},   {"t5", t5}};
  try {
    const auto family = families.find(config.at("model_type"));
    if (family == families.end())
      throw CheckpointError(fmt::format("config.json is of the family '{}'",
                                        config["model_type"].get<std::string>()));
    HubTensors read(tensors);
    const auto logits = family->second({config, read, input});
    read.require_all_used();
    return logits;
  } catch (const json::exception& error) {
    throw CheckpointError(fmt::format("config.json is not a family's: {}", error.what()));
  } catch (const c10::Error& error) {
    if (training::is_out_of_memory(error)) throw;
    throw CheckpointError(
        fmt::format("config.json and the tensors do not fit: {}", error.what_without_backtrace()));
  }
}

}  // namespace ablate::exchange
