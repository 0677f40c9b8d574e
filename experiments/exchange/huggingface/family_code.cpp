#include "experiments/exchange/huggingface/family_code.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/field_table.h"

namespace ablate::exchange {
namespace {

using models::DenseFeedForward;
using nlohmann::json;

/// A head for tokens is there as `architectures` says, or else if its tensor is.
void read_bert(const Reading& reading) {
  const auto classes = reading.config.find<std::vector<std::string>>("architectures")
                           .value_or(std::vector<std::string>());
  const bool has_head =
      classes.empty()
          ? reading.tensors.contains(reading.map.tensors.at("transform.dense.weight").names.front())
          : std::ranges::any_of(classes, [](const std::string& one) {
              return one.ends_with("ForMaskedLM") || one.ends_with("ForPreTraining") ||
                     one.ends_with("LMHeadModel");
            });
  if (!has_head) reading.model.options.output = models::LmHead{};
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

void read_modernbert(const Reading& reading) {
  read_bert(reading);
  read_modernbert_layers(reading.config, reading.model.options);
}

void read_gpt2(const Reading& reading) {
  auto& o = reading.model.options;
  auto& hidden = std::get<DenseFeedForward>(o.layer.feed_forward).d_hidden;
  if (hidden == 0) hidden = 4 * o.d_model;
}

/// Whether some layer has the file's window, if it has one. In Qwen's files two fields decide
/// whether layers have it and which is the first; other families ignore them.
bool uses_window(ConfigFields& config, const UsualWindow& usual, int64_t layers) {
  constexpr int64_t kUsualFirst = 28;
  const bool said = config.find<bool>("use_sliding_window").value_or(false);
  const auto first = config.find<int64_t>("max_window_layers").value_or(kUsualFirst);
  return usual.used || (said && !config.has("layer_types") && first < layers);
}

/// Every layer sees all positions before it.
void read_llama(const Reading& reading) {
  auto& config = reading.config;
  const auto& usual = reading.map.window;
  const int64_t layers = reading.model.options.layers;
  if (const auto kinds = config.find<std::vector<std::string>>("layer_types")) {
    if (std::ssize(*kinds) != layers)
      config.refuse("layer_types",
                    fmt::format("has {} kinds for {} layers", kinds->size(), layers));
    if (std::ranges::any_of(*kinds, [](const auto& one) { return one != "full_attention"; }))
      config.refuse("layer_types", "has layers that do not see all positions");
  }
  const bool used = uses_window(config, usual, layers);
  const bool limits = config.find<int64_t>("sliding_window").has_value();
  if (used && limits) config.refuse("sliding_window", "limits the attention");
  if (used && usual.width && !config.names("sliding_window"))
    config.refuse(
        "sliding_window",
        fmt::format("is missing, which stands for {} and limits the attention", *usual.width));
}

/// A DeepSeek-V3 whose layers are all dense.
void read_deepseek(const Reading& reading) {
  auto& config = reading.config;
  reading.model.pairs_are_neighbours =  // null is false there
      config.find<bool>("rope_interleave").value_or(!config.names("rope_interleave"));
  if (config.get<int64_t>("first_k_dense_replace") < reading.model.options.layers)
    config.refuse("first_k_dense_replace", "leaves layers of experts, which Ablate does not read");
}

void write_deepseek(json& config, const models::TransformerOptions& options) {
  config["rope_interleave"] = false;
  config["first_k_dense_replace"] = options.layers;
}

int64_t mamba2_head_width(const models::TransformerOptions& options) {
  const auto& mixer = std::get<models::Mamba2>(options.layer.attention);
  return mixer.value_width(options.d_model) / mixer.heads;
}

/// A Mamba-2 of one group, without biases, which a file must say.
void read_mamba2(const Reading& reading) {
  auto& config = reading.config;
  config.get<int64_t>("n_groups");
  config.expect("head_dim", mamba2_head_width(reading.model.options));
  if (config.find<bool>("use_conv_bias").value_or(true))
    config.refuse("use_conv_bias", "is true; Ablate's convolutions have no bias");
}

void write_mamba2(json& config, const models::TransformerOptions& options) {
  config["head_dim"] = mamba2_head_width(options);
}

void read_marian(const Reading& reading) {
  auto& [config, map, tensors, model] = reading;
  config.expect("decoder_vocab_size", model.vocabulary);
  model.special.bos = config.find_id("decoder_start_token_id");
  if (!model.special.bos) config.refuse("decoder_start_token_id", "is missing");
}

/// The feed-forward network of a T5, whose activation two more fields may name once more.
void read_t5_network(ConfigFields& config, models::DenseFeedForward& network) {
  const auto kind = config.find<std::string>("feed_forward_proj").value_or("relu");
  const bool gated = kind.starts_with("gated-");
  const auto word = gated ? kind.substr(kind.find('-') + 1) : kind;
  const auto name = kind == "gated-gelu" ? std::string("gelu_new") : word;
  config.expect("dense_act_fn", name);
  config.expect("is_gated_act", gated);
  network.activation = activation_named(config, "feed_forward_proj", name);
  network.gated = gated;
}

/// A file that says whether outputs are scaled is by Transformers 5, which says of every model that
/// its output is the embedding, even if the output has a matrix of its own.
void read_t5_output(ConfigFields& config, bool has_matrix, models::TransformerOptions& o) {
  auto scaled = config.find<bool>("scale_decoder_outputs");
  if (!scaled && config.names("scale_decoder_outputs")) scaled = false;  // as null is there
  const bool said = config.find<bool>("tie_word_embeddings").value_or(true);
  const bool tied = scaled && said ? !has_matrix : said;
  o.tying = tied ? models::Tying::three_way : models::Tying::embeddings;
  models::LmHead head;
  if (scaled.value_or(said)) head.scale = 1 / std::sqrt(static_cast<double>(o.d_model));
  o.output = head;
}

void read_t5(const Reading& reading) {
  auto& [config, map, tensors, model] = reading;
  read_t5_network(config, std::get<DenseFeedForward>(model.options.layer.feed_forward));
  read_t5_output(config, tensors.contains(map.tensors.at("output").names.front()), model.options);
  model.special.bos =
      config.find_id("decoder_start_token_id").value_or(model.special.pad.value_or(0));
}

void write_t5(json& config, const models::TransformerOptions& options) {
  const auto& network = std::get<DenseFeedForward>(options.layer.feed_forward);
  const auto name = name_of(network.activation);
  const bool usual = network.gated && network.activation == models::Activation::gelu_tanh;
  config["feed_forward_proj"] = (network.gated ? "gated-" : "") + (usual ? "gelu" : name);
  config["dense_act_fn"] = name;
  config["scale_decoder_outputs"] = std::get<models::LmHead>(options.output).scale != 1;
  config["tie_word_embeddings"] = options.tying == models::Tying::three_way;
}

}  // namespace

FamilyCode family_code(const std::string& family) {
  static const std::map<std::string, FamilyCode> kCode{
      {"bert", {.read = read_bert}},
      {"deepseek_v3", {.read = read_deepseek, .write = write_deepseek}},
      {"gpt2", {.read = read_gpt2}},
      {"llama", {.read = read_llama}},
      {"mamba2", {.read = read_mamba2, .write = write_mamba2}},
      {"marian", {.read = read_marian}},
      {"modernbert", {.read = read_modernbert}},
      {"t5", {.read = read_t5, .write = write_t5}}};
  const auto& like = family_map(family).like;
  const auto found = kCode.find(like.empty() ? family : like);
  return found == kCode.end() ? FamilyCode{} : found->second;
}

}  // namespace ablate::exchange
