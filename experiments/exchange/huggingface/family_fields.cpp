#include "experiments/exchange/huggingface/family_fields.h"

#include <limits>
#include <map>

namespace ablate::exchange {
namespace {

constexpr int64_t kLargestVocabulary = int64_t{1} << 24;

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

}  // namespace

models::Activation activation_of(ConfigFields& config, const std::string& field) {
  static const std::map<std::string, models::Activation> known{
      {"relu", models::Activation::relu},
      {"gelu", models::Activation::gelu},
      {"gelu_new", models::Activation::gelu_tanh},
      {"gelu_pytorch_tanh", models::Activation::gelu_tanh},
      {"gelu_fast", models::Activation::gelu_tanh},
      {"silu", models::Activation::silu},
      {"swish", models::Activation::silu},
      {"relu2", models::Activation::relu2}};
  const auto name = config.get<std::string>(field);
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
                 .vocabulary = config.get<int64_t>("vocab_size"),
                 .special = special_ids(config)};
  if (model.vocabulary < 1 || model.vocabulary > kLargestVocabulary)
    config.refuse("vocab_size", "is no size of a vocabulary");
  model.options.family = kind;
  model.options.embedding_scale = false;
  model.options.dropout = 0;
  model.options.initialization = models::NormalInitialization{{}, 0.02};
  return model;
}

bool ties(ConfigFields& config, bool usual) {
  return config.find<bool>("tie_word_embeddings").value_or(usual);
}

models::Rotary rotary_of(ConfigFields& config) {
  models::Rotary rotary;
  auto parameters =
      config.find<nlohmann::json>("rope_parameters").value_or(nlohmann::json::object());
  if (const auto older = config.find<nlohmann::json>("rope_scaling")) parameters.update(*older);
  ConfigFields fields(parameters, config.source() + ": rope");
  rotary.base = fields.find<double>("rope_theta")
                    .value_or(config.find<double>("rope_theta").value_or(10'000.0));
  if (const auto older = config.find<double>("rotary_emb_base")) rotary.base = *older;
  rotary.fraction = fields.find<double>("partial_rotary_factor")
                        .value_or(config.find<double>("rotary_pct").value_or(1.0));
  const auto older = fields.find<std::string>("type");
  const auto type = fields.find<std::string>("rope_type").value_or(older.value_or("default"));
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

}  // namespace ablate::exchange
