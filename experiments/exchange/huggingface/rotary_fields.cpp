#include "experiments/exchange/huggingface/rotary_fields.h"

#include <algorithm>

#include "experiments/exchange/huggingface/field_table.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

/// A kind of scaling: the type there, and our word.
struct ScalingName {
  std::string_view type, kind;
};
constexpr ScalingName kScalings[] = {
    {"default", "none"}, {"linear", "linear"}, {"llama3", "llama3"}, {"yarn", "yarn"}};
constexpr const char* kType = "rope_type";
constexpr const char* kBase = "rope_theta";
constexpr const char* kShare = "partial_rotary_factor";

const options::Type& scaling_type() { return options::type_of<models::RotaryScaling>(); }

/// The fields of a kind of scaling.
ForeignFields fields_of(const options::ConstSlot& scaling) {
  ForeignFields fields{
      {"factor", {.keys = {"factor"}}},
      {"original_max_position_embeddings", {.keys = {"trained_length"}, .size = false}},
      {"beta_fast", {.keys = {"fast"}, .usual = "32.0"}},
      {"beta_slow", {.keys = {"slow"}, .usual = "1.0"}},
      {"low_freq_factor", {.keys = {"low"}}},
      {"high_freq_factor", {.keys = {"high"}}}};
  std::erase_if(fields, [&](const auto& field) {
    return scaling.record->find(field.second.keys.front()) == nullptr;
  });
  return fields;
}

/// The number that a field has under its name in `rope`, or under an older one in `config`.
std::optional<double> number_of(ConfigFields& rope, const std::string& name, ConfigFields& config,
                                const std::string& older) {
  const auto own = rope.find<double>(name), other = config.find<double>(older);
  if (own && other && *own != *other) config.refuse(older, "differs from that of rope_parameters");
  return own ? own : other;
}

/// Throws CheckpointError unless whole pairs of channels are turned.
void require_pairs(const ConfigFields& config, const RotaryNames& names, double share,
                   int64_t d_k) {
  if (!(share > 0 && share <= 1)) config.refuse(names.share, "must be above 0 and at most 1");
  const auto width = static_cast<int64_t>(share * static_cast<double>(d_k));
  if (width < 2 || width % 2 != 0)
    config.refuse(names.share,
                  fmt::format("turns {} of the {} channels of a head, no whole pairs", width, d_k));
}

void read_scaling(ConfigFields& rope, models::RotaryScaling& scaling) {
  const auto said = rope.find<std::string>(kType), older = rope.find<std::string>("type");
  if (said && older && *said != *older) rope.refuse("type", "differs from rope_type");
  const auto type = said ? *said : older.value_or("default");
  const auto* known = std::ranges::find(kScalings, type, &ScalingName::type);
  if (known == std::end(kScalings))
    rope.refuse(kType, fmt::format("is '{}', which Ablate does not have", type));
  const auto& words = scaling_type().words;
  scaling_type().select(&scaling,
                        static_cast<size_t>(std::ranges::find(words, known->kind) - words.begin()));
  const auto held = options::held(scaling_type(), static_cast<void*>(&scaling));
  read_fields(rope, fields_of(held), held);
  if (std::holds_alternative<models::YarnScaling>(scaling)) rope.expect("truncate", true);
}

}  // namespace

models::Rotary rotary_of(ConfigFields& config, const RotaryNames& names, int64_t d_k) {
  auto parameters = config.find<json>("rope_parameters").value_or(json::object());
  if (const auto older = config.find<json>("rope_scaling")) {
    if (!parameters.empty() && parameters != *older)
      config.refuse("rope_scaling", "differs from rope_parameters");
    parameters = *older;
  }
  ConfigFields fields(parameters, config.source() + ": rope");
  models::Rotary rotary;
  rotary.base = number_of(fields, kBase, config, names.base).value_or(rotary.base);
  if (names.share.empty()) {
    fields.expect(kShare, 1.0);
  } else {
    rotary.fraction = number_of(fields, kShare, config, names.share).value_or(names.usual_share);
    require_pairs(config, names, rotary.fraction, d_k);
  }
  read_scaling(fields, rotary.scaling);
  fields.finish();
  return rotary;
}

json rope_of(const models::Rotary& rotary) {
  json rope{{kBase, rotary.base}, {kShare, rotary.fraction}};  // GPT-NeoX's default is a quarter
  const auto held = options::held(scaling_type(), static_cast<const void*>(&rotary.scaling));
  const auto* known = std::ranges::find(kScalings, held.record->name, &ScalingName::kind);
  rope[kType] = known == std::end(kScalings) ? "default" : known->type;
  if (known != std::end(kScalings)) write_fields(rope, fields_of(held), held);
  return rope;
}

}  // namespace ablate::exchange
