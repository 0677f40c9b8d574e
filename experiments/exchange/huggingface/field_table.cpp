#include "experiments/exchange/huggingface/field_table.h"

#include <algorithm>

#include "experiments/config/schema/option.h"

namespace ablate::exchange {
namespace {

using models::Activation;
using nlohmann::json;
using options::Type;

/// Of several names, the first is written.
constexpr std::pair<std::string_view, Activation> kActivations[] = {
    {"relu", Activation::relu},           {"gelu", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh},  {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu_fast", Activation::gelu_tanh}, {"silu", Activation::silu},
    {"swish", Activation::silu},          {"relu2", Activation::relu2}};

/// A member of options.
struct Member {
  const Type& type;
  void* slot;
};

Member member_at(options::ConstSlot options, std::string_view path) {
  for (size_t dot; (dot = path.find('.')) != path.npos; path.remove_prefix(dot + 1))
    options = options::section(options, path.substr(0, dot));
  const auto& field = *options.record->find(path);
  return {*field.type, const_cast<void*>(options.at(field))};
}

json value_of(const Type& type, const void* slot) {
  if (type.kind == Type::Kind::boolean) return *static_cast<const bool*>(slot);
  if (type.kind == Type::Kind::integer) return *static_cast<const int64_t*>(slot);
  if (type.kind == Type::Kind::number) return *static_cast<const double*>(slot);
  if (type.kind == Type::Kind::choice) return type.words[type.index(slot)];
  return type.size(slot) == 0 ? json()
                              : value_of(*type.element, type.at(const_cast<void*>(slot), 0));
}

void give(const Member& member, const json& value) {
  const auto& [type, slot] = member;
  if (type.kind == Type::Kind::boolean) {
    value.get_to(*static_cast<bool*>(slot));
  } else if (type.kind == Type::Kind::integer) {
    value.get_to(*static_cast<int64_t*>(slot));
  } else if (type.kind == Type::Kind::number) {
    value.get_to(*static_cast<double*>(slot));
  } else if (type.kind == Type::Kind::choice) {
    const auto word = std::ranges::find(type.words, value.get<std::string>());
    type.select(slot, static_cast<size_t>(word - type.words.begin()));
  } else {
    type.resize(slot, value.is_null() ? 0 : 1);
    if (!value.is_null()) give({*type.element, type.at(slot, 0)}, value);
  }
}

template <class T>
json json_of(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

/// A number of layers or of something else, or the size of a tensor.
std::optional<int64_t> integer_in(ConfigFields& config, const std::string& name,
                                  const ForeignField& field) {
  if (field.keys.front().ends_with("layers")) return config.find_layers(name);
  return field.size ? config.find_size(name) : config.find<int64_t>(name);
}

/// The value of the field in our words; null if it is absent or null.
json value_in(ConfigFields& config, const std::string& name, const ForeignField& field,
              const Type& type) {
  if (type.kind == Type::Kind::optional) return value_in(config, name, field, *type.element);
  if (type.kind == Type::Kind::integer) return json_of(integer_in(config, name, field));
  if (type.kind == Type::Kind::number) return json_of(config.find<double>(name));
  if (type.kind == Type::Kind::boolean) return json_of(config.find<bool>(name));
  if (!field.words.empty()) {
    const auto said = json_of(config.find<bool>(name));
    return said.is_null() ? said : json(field.words.at(said.dump()));
  }
  const auto word = config.find<std::string>(name);
  return word ? json(config::word_of(activation_named(config, name, *word))) : json();
}

void read_field(ConfigFields& config, const std::string& name, const ForeignField& field,
                const options::Slot& options) {
  const auto& type = member_at(options, field.keys.front()).type;
  auto value = value_in(config, name, field, type);
  if (value.is_null()) {
    if (!field.usual) config.refuse(name, "is missing");
    const bool says_absent = config.names(name) && type.kind == Type::Kind::optional &&
                             type.element->kind == Type::Kind::integer;
    if (!says_absent) value = value_named(*field.usual);
  }
  for (const auto& key : field.keys) give(member_at(options, key), value);
}

}  // namespace

models::Activation activation_named(const ConfigFields& config, const std::string& field,
                                    const std::string& name) {
  for (const auto& [known, activation] : kActivations)
    if (known == name) return activation;
  config.refuse(field, fmt::format("is '{}', which Ablate does not have", name));
}

std::string name_of(models::Activation activation) {
  const auto* found =
      std::ranges::find(kActivations, activation, &std::pair<std::string_view, Activation>::second);
  return found == std::end(kActivations) ? "" : std::string(found->first);
}

json value_at(const options::ConstSlot& options, std::string_view key) {
  const auto [type, slot] = member_at(options, key);
  return value_of(type, slot);
}

void read_fields(ConfigFields& config, const ForeignFields& fields, const options::Slot& options) {
  for (const auto& [name, field] : fields)
    if (!field.again) read_field(config, name, field, options);
  for (const auto& [name, field] : fields)
    if (field.again) config.expect(name, value_at(options, field.keys.front()).get<int64_t>());
}

void write_fields(json& config, const ForeignFields& fields, const options::ConstSlot& options) {
  for (const auto& [name, field] : fields) {
    if (!field.write) continue;
    const auto [type, slot] = member_at(options, field.keys.front());
    const auto value = value_of(type, slot);
    if (type.is<Activation>())
      config[name] = name_of(*static_cast<const Activation*>(slot));
    else if (!field.words.empty())
      config[name] = value == field.words.at("true");
    else
      config[name] = value;
  }
}

}  // namespace ablate::exchange
