#pragma once

#include "experiments/config/schema/layer_changes.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

template <class T>
Schema describe(const T& value);

template <OptionStruct T>
std::vector<Schema> describe_fields(const T& options) {
  std::vector<Schema> keys;
  T::fields(options, [&](std::string_view name, const auto& slot, std::string_view description) {
    keys.push_back(describe(slot));
    keys.back().name = name;
    keys.back().description = description;
  });
  return keys;
}

/// The schema of `model.encoder` and `model.decoder`: the keys of a layer, which default to those
/// of the model.
Schema describe_layer();
/// The schema of an element of `model.changes`.
Schema describe_change();

/// An alternative of a variant, with the values in `held` as defaults if `held` is this
/// alternative.
template <class Option, class... Options>
Schema describe_alternative(const std::variant<Options...>& held) {
  Schema schema{.type = Schema::Type::mapping, .name = std::string(Option::name)};
  if (const auto* current = std::get_if<Option>(&held)) schema.children = describe_fields(*current);
  if (schema.children.empty()) {
    const Option fresh;
    schema.children = describe_fields(fresh);
  }
  return schema;
}

template <class... Options>
Schema describe_variant(const std::variant<Options...>& held) {
  return {.type = Schema::Type::variant,
          .fallback = std::visit([](const auto& o) { return std::string(o.name); }, held),
          .choices = kinds_of(held),
          .discriminator = std::string(discriminator_of(held)),
          .children = {describe_alternative<Options>(held)...}};
}

/// The schema of a slot, with `value` as its default.
template <class T>
Schema describe(const T& value) {
  using Type = Schema::Type;
  if constexpr (std::is_same_v<T, models::SideLayers>) {
    return describe_layer();
  } else if constexpr (std::is_same_v<T, models::LayerChanges>) {
    return {.type = Type::list, .fallback = "[]", .children = {describe_change()}};
  } else if constexpr (is_variant<T>) {
    return describe_variant(value);
  } else if constexpr (OptionStruct<T>) {
    return {.type = Type::mapping, .children = describe_fields(value)};
  } else if constexpr (std::is_same_v<T, Value>) {
    return {.type = Type::any};
  } else if constexpr (std::is_same_v<T, std::vector<Value>>) {
    return {.type = Type::list, .children = {describe(Value{})}};
  } else if constexpr (is_optional<T>) {
    Schema inner = describe(typename T::value_type{});
    inner.optional = true;
    inner.fallback = yaml_of(value);
    return inner;
  } else if constexpr (List<T>) {
    return {.type = Type::list,
            .fallback = yaml_of(value),
            .length = static_cast<size_t>(list_length<T>),
            .children = {describe(typename T::value_type{})}};
  } else if constexpr (Choice<T>) {
    return {.type = Type::choice, .fallback = yaml_of(value), .choices = choices_of(value)};
  } else {
    const Type type = std::is_same_v<T, bool>      ? Type::boolean
                      : std::is_same_v<T, int64_t> ? Type::integer
                      : std::is_same_v<T, double>  ? Type::number
                                                   : Type::text;
    return {.type = type, .fallback = yaml_of(value)};
  }
}

}  // namespace ablate::config
