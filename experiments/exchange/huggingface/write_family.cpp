#include "experiments/exchange/huggingface/write_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/one_form.h"
#include "tokenizer/special_tokens.h"

namespace ablate::exchange {
namespace {

using models::Activation;
using models::DenseFeedForward;
using models::Learned;
using models::MultiHead;
using models::Rotary;
using models::Sinusoidal;
using nlohmann::json;

const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::gelu_tanh:
      return "gelu_new";
    case Activation::silu:
      return "silu";
    case Activation::relu2:
      return "relu2";
    case Activation::sigmoid:
    case Activation::identity:
      return "";
  }
  return "";
}

/// The parts of the options that configurations name, in one form; defaults for kinds that no
/// family has.
struct Parts {
  const models::TransformerOptions& o;
  int64_t length;  // of the longest sequence in training
  MultiHead heads = held<MultiHead>(o.layer.attention);
  DenseFeedForward dense = held<DenseFeedForward>(o.layer.feed_forward);
  Rotary rotary = held<Rotary>(o.layer.position);
  Learned learned = held<Learned>(o.layer.position);
  models::LmHead head = held<models::LmHead>(o.output);
  bool tied = o.tying == models::Tying::three_way;

  template <class Held, class Variant>
  static Held held(const Variant& options) {
    const auto* found = std::get_if<Held>(&options);
    return found == nullptr ? Held() : *found;
  }
};

json rope_of(const Rotary& rotary) {
  json rope{{"rope_type", "default"},
            {"rope_theta", rotary.base},
            {"partial_rotary_factor", rotary.fraction}};  // GPT-NeoX's default is a quarter
  if (const auto* linear = std::get_if<models::LinearScaling>(&rotary.scaling))
    rope.update({{"rope_type", "linear"}, {"factor", linear->factor}});
  if (const auto* yarn = std::get_if<models::YarnScaling>(&rotary.scaling))
    rope.update({{"rope_type", "yarn"},
                 {"factor", yarn->factor},
                 {"original_max_position_embeddings", yarn->trained_length},
                 {"beta_fast", yarn->fast},
                 {"beta_slow", yarn->slow}});
  if (const auto* llama = std::get_if<models::Llama3Scaling>(&rotary.scaling))
    rope.update({{"rope_type", "llama3"},
                 {"factor", llama->factor},
                 {"original_max_position_embeddings", llama->trained_length},
                 {"low_freq_factor", llama->low},
                 {"high_freq_factor", llama->high}});
  return rope;
}

/// The length that a model with rotary positions is for. Yarn stretches it by its factor, which
/// older versions of Transformers compute from both lengths.
int64_t length_of(const Parts& p) {
  const auto* yarn = std::get_if<models::YarnScaling>(&p.rotary.scaling);
  return yarn == nullptr ? p.length
                         : std::llround(yarn->factor * static_cast<double>(yarn->trained_length));
}

/// The fields that most families have under these names, and `own`, of a stack with `heads`.
json config_of_stack(const Parts& p, int64_t heads, const json& own) {
  json config{{"hidden_size", p.o.d_model},
              {"num_hidden_layers", p.o.layers},
              {"num_attention_heads", heads},
              {"intermediate_size", p.dense.d_hidden},
              {"hidden_act", name_of(p.dense.activation)},
              {"tie_word_embeddings", p.tied}};
  config.update(own);
  return config;
}

json config_of_llama(const Parts& p, const std::string& type, const std::string& architecture) {
  json config =
      config_of_stack(p, p.heads.heads,
                      {{"model_type", type},
                       {"architectures", {architecture}},
                       {"num_key_value_heads", p.heads.key_value_heads.value_or(p.heads.heads)},
                       {"head_dim", p.heads.d_k.value_or(p.o.d_model / p.heads.heads)},
                       {"rms_norm_eps", p.o.layer.norm.epsilon},
                       {"rope_parameters", rope_of(p.rotary)},
                       {"max_position_embeddings", length_of(p)}});
  if (type == "llama") config["mlp_bias"] = p.dense.bias.value_or(false);
  if (type != "qwen2") config["attention_bias"] = p.heads.qkv_bias.value_or(false);
  return config;
}

json config_of_gpt2(const Parts& p) {
  return {{"model_type", "gpt2"},
          {"architectures", {"GPT2LMHeadModel"}},
          {"n_embd", p.o.d_model},
          {"n_layer", p.o.layers},
          {"n_head", p.heads.heads},
          {"n_inner", p.dense.d_hidden},
          {"n_positions", p.learned.max_length},
          {"activation_function", name_of(p.dense.activation)},
          {"layer_norm_epsilon", p.o.layer.norm.epsilon},
          {"tie_word_embeddings", p.tied}};
}

json config_of_gpt_neox(const Parts& p) {
  return config_of_stack(
      p, p.heads.heads,
      {{"model_type", "gpt_neox"},
       {"architectures", {"GPTNeoXForCausalLM"}},
       {"layer_norm_eps", p.o.layer.norm.epsilon},
       {"attention_bias", p.heads.qkv_bias.value_or(false)},
       {"use_parallel_residual", p.o.layer.block == models::Block::parallel_norms},
       {"rope_parameters", rope_of(p.rotary)},
       {"max_position_embeddings", length_of(p)}});
}

json config_of_bert(const Parts& p) {
  return config_of_stack(p, p.heads.heads,
                         {{"model_type", "bert"},
                          {"architectures", {"BertForMaskedLM"}},
                          {"layer_norm_eps", p.o.layer.norm.epsilon},
                          {"max_position_embeddings", p.learned.max_length},
                          {"type_vocab_size", p.o.token_types}});
}

/// The rows of Marian's table of sinusoids, beyond which Transformers ends in an error: 1,024, or
/// the length of training if that is larger.
int64_t sinusoids_of(const Parts& p) {
  constexpr int64_t kUsual = 1024, kMost = 65'536;  // a larger length is no limit
  return p.length > kMost ? kUsual : std::max(kUsual, p.length);
}

json config_of_marian(const Parts& p) {
  const auto decoder = p.o.decoder_layers.value_or(p.o.layers);
  return {{"model_type", "marian"},
          {"architectures", {"MarianMTModel"}},
          {"is_encoder_decoder", true},
          {"d_model", p.o.d_model},
          {"encoder_layers", p.o.layers},
          {"decoder_layers", decoder},
          {"encoder_attention_heads", p.heads.heads},
          {"decoder_attention_heads", p.heads.heads},
          {"encoder_ffn_dim", p.dense.d_hidden},
          {"decoder_ffn_dim", p.dense.d_hidden},
          {"activation_function", name_of(p.dense.activation)},
          {"scale_embedding", p.o.embedding_scale},
          {"max_position_embeddings", sinusoids_of(p)},
          {"share_encoder_decoder_embeddings", true},
          {"forced_eos_token_id", nullptr},
          {"tie_word_embeddings", true}};
}

json config_of_t5(const Parts& p) {
  const auto bias = Parts::held<models::T5Bias>(p.o.layer.position);
  const bool usual = p.dense.gated && p.dense.activation == Activation::gelu_tanh;
  const std::string name = usual ? "gelu" : name_of(p.dense.activation);
  return {{"model_type", "t5"},
          {"architectures", {"T5ForConditionalGeneration"}},
          {"is_encoder_decoder", true},
          {"d_model", p.o.d_model},
          {"num_layers", p.o.layers},
          {"num_decoder_layers", p.o.decoder_layers.value_or(p.o.layers)},
          {"num_heads", p.heads.heads},
          {"d_kv", p.heads.d_k.value_or(p.o.d_model / p.heads.heads)},
          {"d_ff", p.dense.d_hidden},
          {"feed_forward_proj", (p.dense.gated ? "gated-" : "") + name},
          {"dense_act_fn", name_of(p.dense.activation)},
          {"relative_attention_num_buckets", bias.buckets},
          {"relative_attention_max_distance", bias.max_distance},
          {"layer_norm_epsilon", p.o.layer.norm.epsilon},
          {"scale_decoder_outputs", p.head.scale != 1},
          {"tie_word_embeddings", p.tied}};
}

json config_of_deepseek(const Parts& p, const models::Latent& latent) {
  const auto widths = models::widths_of(latent, p.o.d_model);
  return config_of_stack(p, widths.heads,
                         {{"model_type", "deepseek_v3"},
                          {"architectures", {"DeepseekV3ForCausalLM"}},
                          {"first_k_dense_replace", p.o.layers},
                          {"num_key_value_heads", widths.heads},
                          {"kv_lora_rank", widths.rank},
                          {"q_lora_rank", latent.query_rank ? json(*latent.query_rank) : json()},
                          {"qk_nope_head_dim", widths.d_k},
                          {"qk_rope_head_dim", widths.shared},
                          {"v_head_dim", widths.d_v},
                          {"rms_norm_eps", 1e-6},
                          {"rope_interleave", false},
                          {"rope_parameters", rope_of(p.rotary)},
                          {"max_position_embeddings", length_of(p)},
                          {"attention_bias", false},
                          {"num_nextn_predict_layers", 0}});
}

json config_of_mamba2(const Parts& p, const models::Mamba2& mamba2) {
  return {{"model_type", "mamba2"},
          {"architectures", {"Mamba2ForCausalLM"}},
          {"hidden_size", p.o.d_model},
          {"num_hidden_layers", p.o.layers},
          {"num_heads", mamba2.heads},
          {"head_dim", mamba2.value_width(p.o.d_model) / mamba2.heads},
          {"state_size", mamba2.state_size},
          {"expand", mamba2.expand},
          {"conv_kernel", models::Mamba2::width},
          {"n_groups", 1},
          {"use_bias", false},
          {"use_conv_bias", false},
          {"hidden_act", "silu"},
          {"layer_norm_epsilon", p.o.layer.norm.epsilon},
          {"tie_word_embeddings", p.tied}};
}

struct Candidate {
  std::string family;
  json config;
};

/// The candidates of the options' family, the best known first.
std::vector<Candidate> candidates_of(const Parts& p) {
  switch (p.o.family) {
    case models::Family::decoder_only:
      if (const auto* latent = std::get_if<models::Latent>(&p.o.layer.attention))
        return {{"deepseek_v3", config_of_deepseek(p, *latent)}};
      if (const auto* mamba2 = std::get_if<models::Mamba2>(&p.o.layer.attention))
        return {{"mamba2", config_of_mamba2(p, *mamba2)}};
      return {{"llama", config_of_llama(p, "llama", "LlamaForCausalLM")},
              {"llama", config_of_llama(p, "qwen2", "Qwen2ForCausalLM")},
              {"llama", config_of_llama(p, "qwen3", "Qwen3ForCausalLM")},
              {"gpt2", config_of_gpt2(p)},
              {"gpt_neox", config_of_gpt_neox(p)}};
    case models::Family::encoder_only:
      return {{"bert", config_of_bert(p)}};
    case models::Family::encoder_decoder:
      return {{"marian", config_of_marian(p)}, {"t5", config_of_t5(p)}};
  }
  return {};
}

/// The names of tensors by which a family's head is known.
std::set<std::string> known_heads(const Parts& p) {
  std::set<std::string> names;
  if (p.head.transform) names.insert("cls.predictions.transform.dense.weight");
  if (p.o.tying != models::Tying::three_way) names.insert("lm_head.weight");
  return names;
}

/// How a model with this configuration differs from ours.
std::vector<config::Difference> differences(const Parts& p, const Candidate& candidate) {
  try {
    ConfigFields fields(candidate.config, "config.json", std::numeric_limits<int64_t>::max());
    auto read = read_family(fields, known_heads(p)).options;
    auto own = p.o;
    if (auto* head = std::get_if<models::LmHead>(&own.output);
        head != nullptr && family_map(candidate.family).always_has_bias())
      head->bias = true;  // of zeros, if ours has none
    return config::differences({.model = own}, {.model = in_one_form(read)});
  } catch (const training::CheckpointError& error) {
    return {{.path = error.what(), .left = "", .right = ""}};  // such as an activation it lacks
  }
}

/// The rates with which the model was trained, for who trains it further.
void set_dropouts(json& config, const Words& fields, const models::TransformerOptions& o) {
  const auto* latent = std::get_if<models::Latent>(&o.layer.attention);
  const std::map<std::string, double> rates{
      {"dropout", o.dropout},
      {"embedding_dropout", o.embedding_dropout.value_or(o.dropout)},
      {"attention.dropout",
       latent ? latent->dropout : Parts::held<MultiHead>(o.layer.attention).dropout},
      {"feed_forward.dropout", Parts::held<DenseFeedForward>(o.layer.feed_forward).dropout}};
  for (const auto& [key, field] : fields) config[field] = rates.at(key);
}

bool separates(models::TransformerOptions& o) {
  auto* sines = std::get_if<Sinusoidal>(&o.layer.position);
  if (sines == nullptr || sines->layout == models::SinusoidalLayout::halves || o.d_model % 2 != 0)
    return false;
  sines->layout = models::SinusoidalLayout::halves;
  return true;
}

}  // namespace

void set_vocabulary(json& config, int64_t vocabulary, const tokenizer::SpecialIds& special) {
  const auto id = [](const std::optional<int32_t>& known) {
    return known ? json(*known) : json(nullptr);
  };
  config["vocab_size"] = vocabulary;
  config["pad_token_id"] = id(special.pad);
  config["bos_token_id"] = id(special.bos);
  config["eos_token_id"] = id(special.eos);
  if (config.value("is_encoder_decoder", false)) config["decoder_start_token_id"] = id(special.bos);
}

WrittenFamily write_family(const models::TransformerOptions& options, int64_t length,
                           int64_t vocabulary, const tokenizer::SpecialIds& special) {
  auto form = in_one_form(options);
  const bool separated = separates(form);
  const Parts parts{form, length};
  std::vector<config::Difference> fewest;
  std::string nearest;
  for (auto& candidate : candidates_of(parts)) {
    auto& [family, config] = candidate;
    set_vocabulary(config, vocabulary, special);
    const auto found = differences(parts, candidate);
    if (found.empty()) {
      set_dropouts(config, family_map(family).dropouts, options);
      return {family, config, separated};
    }
    if (!nearest.empty() && found.size() >= fewest.size()) continue;
    fewest = found;
    nearest = config["architectures"][0];
  }
  const auto& first = fewest.front();
  throw UsageError(
      fmt::format("no family of Hugging Face's Transformers that Ablate writes computes this "
                  "model; the nearest is {}, but {}{}; "
                  "--format safetensors and torchscript take any model",
                  nearest, first.path,
                  first.left.empty() && first.right.empty()
                      ? ""
                      : fmt::format(" is {} here and {} there", first.left, first.right)));
}

}  // namespace ablate::exchange
