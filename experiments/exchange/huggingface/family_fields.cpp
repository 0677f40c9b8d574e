#include "experiments/exchange/huggingface/family_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>

#include "experiments/config/schema/rules.h"
#include "experiments/exchange/huggingface/family_maps.h"

namespace ablate::exchange {
namespace {

tokenizer::SpecialIds special_ids(ConfigFields& config) {
  const auto id = [&](const std::string& name) { return id_in(config, name); };
  return {.pad = id("pad_token_id"),
          .bos = id("bos_token_id"),
          .eos = id("eos_token_id"),
          .unk = {},
          .mask = {}};
}

models::YarnScaling yarn_of(ConfigFields& rope) {
  models::YarnScaling yarn{.factor = rope.get<double>("factor"),
                           .trained_length = rope.get<int64_t>("original_max_position_embeddings")};
  yarn.fast = rope.find<double>("beta_fast").value_or(yarn.fast);
  yarn.slow = rope.find<double>("beta_slow").value_or(yarn.slow);
  rope.expect("truncate", true);
  return yarn;
}

/// The number that a field has under its name in `rope`, or under an older one in `config`.
std::optional<double> number_of(ConfigFields& rope, const std::string& name, ConfigFields& config,
                                const std::string& older) {
  const auto own = rope.find<double>(name), other = config.find<double>(older);
  if (own && other && *own != *other) config.refuse(older, "differs from that of rope_parameters");
  return own ? own : other;
}

std::string type_of(ConfigFields& rope) {
  const auto type = rope.find<std::string>("rope_type"), older = rope.find<std::string>("type");
  if (type && older && *type != *older) rope.refuse("type", "differs from rope_type");
  return type ? *type : older.value_or("default");
}

/// Throws CheckpointError unless whole pairs of channels are turned.
void require_pairs(const ConfigFields& config, const RotaryNames& names, double share) {
  if (!(share > 0 && share <= 1)) config.refuse(names.share, "must be above 0 and at most 1");
  const auto width = static_cast<int64_t>(share * static_cast<double>(names.d_k));
  if (width < 2 || width % 2 != 0)
    config.refuse(names.share, fmt::format("turns {} of the {} channels of a head, no whole pairs",
                                           width, names.d_k));
}

}  // namespace

models::Activation activation_of(ConfigFields& config, const std::string& field) {
  return activation_named(config, field, config.get<std::string>(field));
}

models::Activation activation_named(const ConfigFields& config, const std::string& field,
                                    const std::string& name) {
  static const std::map<std::string, models::Activation> known{
      {"relu", models::Activation::relu},
      {"gelu", models::Activation::gelu},
      {"gelu_new", models::Activation::gelu_tanh},
      {"gelu_pytorch_tanh", models::Activation::gelu_tanh},
      {"gelu_fast", models::Activation::gelu_tanh},
      {"silu", models::Activation::silu},
      {"swish", models::Activation::silu},
      {"relu2", models::Activation::relu2}};
  const auto found = known.find(name);
  if (found == known.end())
    config.refuse(field, fmt::format("is '{}', which Ablate does not have", name));
  return found->second;
}

std::optional<int32_t> id_in(ConfigFields& config, const std::string& name) {
  auto value = config.find<nlohmann::json>(name);
  if (value && value->is_array() && !value->empty()) value = nlohmann::json(value->front());
  if (!value) return {};
  if (!value->is_number_integer() || *value < 0 || *value > std::numeric_limits<int32_t>::max())
    config.refuse(name, "is not the id of a token");
  return value->get<int32_t>();
}

HubModel begin_model(ConfigFields& config, const std::string& family, models::Family kind) {
  HubModel model{.family = family,
                 .options = {},
                 .vocabulary = config.size("vocab_size"),
                 .special = special_ids(config)};
  model.options.family = kind;
  model.options.embedding_scale = false;
  model.options.dropout = 0;
  model.options.initialization = models::NormalInitialization{{}, 0.02};
  const auto map = family_map(family);
  config.expect_all(map.fixed);
  config.skip(map.without_effect);
  return model;
}

int64_t layers_in(ConfigFields& config, const std::string& name) {
  const auto layers = config.get<int64_t>(name);
  if (layers < 1 || layers > models::kMostLayers)
    config.refuse(name,
                  fmt::format("is {}, and must be from 1 to {}", layers, models::kMostLayers));
  return layers;
}

bool ties(ConfigFields& config, bool usual) {
  return config.find<bool>("tie_word_embeddings").value_or(usual);
}

bool has_token_head(ConfigFields& config, const std::set<std::string>& tensors,
                    const std::string& tensor) {
  const auto classes =
      config.find<std::vector<std::string>>("architectures").value_or(std::vector<std::string>());
  if (classes.empty()) return tensors.contains(tensor);
  return std::ranges::any_of(classes, [](const std::string& one) {
    return one.ends_with("ForMaskedLM") || one.ends_with("ForPreTraining") ||
           one.ends_with("LMHeadModel");
  });
}

models::Rotary rotary_of(ConfigFields& config, const RotaryNames& names) {
  auto parameters =
      config.find<nlohmann::json>("rope_parameters").value_or(nlohmann::json::object());
  if (const auto older = config.find<nlohmann::json>("rope_scaling")) {
    if (!parameters.empty() && parameters != *older)
      config.refuse("rope_scaling", "differs from rope_parameters");
    parameters = *older;
  }
  ConfigFields fields(parameters, config.source() + ": rope");
  models::Rotary rotary;
  rotary.base = number_of(fields, "rope_theta", config, names.base).value_or(rotary.base);
  if (names.share.empty()) {
    fields.expect("partial_rotary_factor", 1.0);
  } else {
    rotary.fraction =
        number_of(fields, "partial_rotary_factor", config, names.share).value_or(names.usual_share);
    require_pairs(config, names, rotary.fraction);
  }
  const auto type = type_of(fields);
  if (type == "linear")
    rotary.scaling = models::LinearScaling{.factor = fields.get<double>("factor")};
  else if (type == "llama3")
    rotary.scaling = models::Llama3Scaling{
        .factor = fields.get<double>("factor"),
        .trained_length = fields.get<int64_t>("original_max_position_embeddings"),
        .low = fields.get<double>("low_freq_factor"),
        .high = fields.get<double>("high_freq_factor")};
  else if (type == "yarn")
    rotary.scaling = yarn_of(fields);
  else if (type != "default")
    fields.refuse("rope_type", fmt::format("is '{}', which Ablate does not have", type));
  fields.finish();
  return rotary;
}

void require_rules(const options::ConstSlot& options, const std::string& section,
                   const std::string& source) {
  std::vector<config::BrokenRule> broken;
  config::collect_broken_rules(options, section, broken);
  if (broken.empty()) return;
  const auto& [place, key, why] = broken.front();
  throw training::CheckpointError(
      fmt::format("{}: describes a model that Ablate cannot make: {} {}", source,
                  config::join_path(place, key), why));
}

}  // namespace ablate::exchange
