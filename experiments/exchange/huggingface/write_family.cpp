#include "experiments/exchange/huggingface/write_family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/exchange/huggingface/family_code.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/field_table.h"
#include "experiments/exchange/huggingface/one_form.h"
#include "experiments/exchange/huggingface/rotary_fields.h"

namespace ablate::exchange {
namespace {

using models::MultiHead;
using models::Sinusoidal;
using nlohmann::json;

/// The families that are written, the best known first.
constexpr const char* kFamilies[] = {"llama",       "qwen2",  "qwen3", "gpt2",   "gpt_neox",
                                     "deepseek_v3", "mamba2", "bert",  "marian", "t5"};

/// The length that a model with rotary positions is for. Yarn stretches it by its factor, which
/// older versions of Transformers compute from both lengths.
int64_t length_of(const models::Rotary& rotary, int64_t trained) {
  const auto* yarn = std::get_if<models::YarnScaling>(&rotary.scaling);
  return yarn == nullptr ? trained
                         : std::llround(yarn->factor * static_cast<double>(yarn->trained_length));
}

void write_positions(json& config, const models::Rotary& rotary, int64_t trained) {
  config["rope_parameters"] = rope_of(rotary);
  config["max_position_embeddings"] = length_of(rotary, trained);
}

/// The rows of Marian's table of sinusoids, beyond which Transformers ends in an error: 1,024, or
/// the length of training if that is larger.
void write_positions(json& config, const Sinusoidal&, int64_t trained) {
  constexpr int64_t kUsual = 1024, kMost = 65'536;  // a larger length is no limit
  config["max_position_embeddings"] = trained > kMost ? kUsual : std::max(kUsual, trained);
}

void write_positions(json&, const auto&, int64_t) {}

/// The same options with the family's kinds, whose defaults stand for what these do not have.
models::TransformerOptions with_kinds_of(const models::TransformerOptions& family,
                                         models::TransformerOptions o) {
  const auto own = options::slot_of(o);
  for (const auto& field : own.record->fields) {
    if (field.type->kind != options::Type::Kind::variant) continue;
    const auto kind = field.type->index(options::slot_of(family).at(field));
    if (kind != field.type->index(own.at(field))) field.type->select(own.at(field), kind);
  }
  o = in_one_form(o);
  o.decoder_layers = models::depth_of(o, models::Side::decoder);
  return o;
}

/// The configuration of a family that is the nearest to the options.
json written_config(const std::string& family, const FamilyMap& map,
                    const models::TransformerOptions& options, int64_t length) {
  const auto o = with_kinds_of(map.model, options);
  json config{{"model_type", family}, {"architectures", {map.architecture}}};
  for (const auto& [field, value] : map.written) config[field] = value_named(value);
  write_fields(config, map.fields, options::slot_of(o));
  std::visit([&](const auto& position) { write_positions(config, position, length); },
             o.layer.position);
  family_code(family).write(config, o);
  return config;
}

/// The candidates of the options' family and attention, or of the usual attention.
std::vector<std::string> candidates_of(const models::TransformerOptions& o) {
  const auto with = [&](const models::AttentionOptions& attention) {
    std::vector<std::string> names;
    for (const auto* name : kFamilies)
      if (const auto& model = family_map(name).model;
          model.family == o.family && model.layer.attention.index() == attention.index())
        names.emplace_back(name);
    return names;
  };
  const auto own = with(o.layer.attention);
  return own.empty() ? with(MultiHead()) : own;
}

/// The names of tensors by which the output is known to be no embedding.
std::set<std::string> known_outputs(const FamilyMap& map, models::Tying tying) {
  const auto output = map.tensors.find("output");
  if (tying == models::Tying::three_way || output == map.tensors.end()) return {};
  return {output->second.names.begin(), output->second.names.end()};
}

/// How a model with this configuration differs from ours.
std::vector<config::Difference> differences(const FamilyMap& map, const json& written,
                                            models::TransformerOptions own) {
  try {
    ConfigFields fields(written, "config.json", std::numeric_limits<int64_t>::max());
    const auto read = read_family(fields, known_outputs(map, own.tying)).options;
    const auto bias = map.tensors.find("output_bias");
    if (auto* head = std::get_if<models::LmHead>(&own.output);
        head != nullptr && bias != map.tensors.end() && bias->second.always)
      head->bias = true;  // of zeros, if ours has none
    return config::differences({.model = own}, {.model = in_one_form(read)});
  } catch (const training::CheckpointError& error) {
    return {{.path = error.what(), .left = "", .right = ""}};  // such as an activation it lacks
  }
}

/// The rates with which the model was trained, for who trains it further.
void set_dropouts(json& config, const Words& fields, const models::TransformerOptions& o) {
  for (const auto& [key, field] : fields) {
    const auto rate = value_at(options::slot_of(o), key);
    config[field] = rate.is_null() ? json(o.dropout) : rate;
  }
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
  std::vector<config::Difference> fewest;
  std::string nearest;
  for (const auto& family : candidates_of(form)) {
    const auto& map = family_map(family);
    auto config = written_config(family, map, form, length);
    set_vocabulary(config, vocabulary, special);
    const auto found = differences(map, config, form);
    if (found.empty()) {
      set_dropouts(config, map.dropouts, options);
      return {family, config, separated};
    }
    if (!nearest.empty() && found.size() >= fewest.size()) continue;
    fewest = found;
    nearest = map.architecture;
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
