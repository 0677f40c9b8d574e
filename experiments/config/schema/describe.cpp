#include "experiments/config/schema/describe.h"

#include "experiments/config/schema/experiment.h"
#include "experiments/config/schema/layer_changes.h"

namespace ablate::config {
namespace {

using options::ConstSlot;
using options::Type;

/// The schema of a member, with its value as the default.
Schema describe_member(const Type& type, const void* slot);

std::vector<Schema> describe_fields(const ConstSlot& options) {
  std::vector<Schema> keys;
  for (const auto& field : options.record->fields) {
    keys.push_back(describe_member(*field.type, options.at(field)));
    keys.back().name = field.name;
    keys.back().description = field.description;
    keys.back().bounds = field.bounds;
  }
  return keys;
}

std::vector<std::string> strings_of(const std::vector<std::string_view>& texts) {
  return {texts.begin(), texts.end()};
}

/// The alternative that the variant holds has its values as defaults, the others have their own.
Schema describe_variant(const Type& type, const void* slot) {
  const auto chosen = type.index(slot);
  Schema schema{.type = Schema::Type::variant,
                .fallback = std::string(type.words[chosen]),
                .choices = strings_of(type.words),
                .abouts = strings_of(type.abouts),
                .discriminator = std::string(type.discriminator)};
  for (size_t i = 0; i < type.records.size(); ++i) {
    const auto* record = type.records[i];
    const auto options = i == chosen ? options::held(type, slot) : ConstSlot{record, record->fresh};
    schema.children.push_back({.type = Schema::Type::mapping,
                               .name = std::string(record->name),
                               .description = std::string(record->about),
                               .children = describe_fields(options)});
  }
  return schema;
}

/// The schema of an element of a list, or of what an optional may hold.
Schema describe_element(const Type& type) {
  if (type.kind == Type::Kind::record) return describe({type.records[0], type.records[0]->fresh});
  return describe_member(type, type.fresh);
}

Schema describe_optional(const Type& type, const void* slot) {
  auto schema = describe_element(*type.element);
  schema.optional = true;
  schema.fallback = yaml_of(type, slot);
  return schema;
}

Schema describe_list(const Type& type, const void* slot) {
  if (type.element->is<Value>())
    return {.type = Schema::Type::list, .children = {{.type = Schema::Type::any}}};
  return {.type = Schema::Type::list,
          .fallback = yaml_of(type, slot),
          .length = type.length,
          .children = {describe_element(*type.element)}};
}

Schema describe_value(Schema::Type kind, const Type& type, const void* slot) {
  return {.type = kind, .fallback = yaml_of(type, slot)};
}

/// The schema of an element of `model.changes`.
Schema describe_change() {
  auto schema = describe_layer();
  const auto place = describe(options::slot_of(ChangePlace{})).children;
  schema.children.insert(schema.children.begin(), place.begin(), place.end());
  return schema;
}

Schema describe_member(const Type& type, const void* slot) {
  if (type.is<models::SideLayers>()) return describe_layer();
  if (type.is<models::LayerChanges>())
    return {.type = Schema::Type::list, .fallback = "[]", .children = {describe_change()}};
  switch (type.kind) {
    case Type::Kind::boolean:
      return describe_value(Schema::Type::boolean, type, slot);
    case Type::Kind::integer:
      return describe_value(Schema::Type::integer, type, slot);
    case Type::Kind::number:
      return describe_value(Schema::Type::number, type, slot);
    case Type::Kind::text:
      return describe_value(Schema::Type::text, type, slot);
    case Type::Kind::choice:
      return {.type = Schema::Type::choice,
              .fallback = yaml_of(type, slot),
              .choices = strings_of(type.words),
              .abouts = strings_of(type.abouts)};
    case Type::Kind::optional:
      return describe_optional(type, slot);
    case Type::Kind::list:
      return describe_list(type, slot);
    case Type::Kind::variant:
      return describe_variant(type, slot);
    case Type::Kind::record:
      return describe({type.records[0], slot});
    case Type::Kind::other:
      break;
  }
  return {.type = Schema::Type::any};
}

void forget_defaults(Schema& schema) {
  schema.fallback.clear();
  for (auto& child : schema.children) forget_defaults(child);
}

}  // namespace

Schema describe(const ConstSlot& options) {
  return {.type = Schema::Type::mapping, .children = describe_fields(options)};
}

Schema describe_layer() {
  auto schema = describe(options::slot_of(models::LayerOptions{}));
  schema.of_layer = true;
  forget_defaults(schema);
  return schema;
}

const Schema& experiment_schema() {
  static const Schema kSchema = [] {
    Schema schema = describe(options::slot_of(Experiment{}));
    schema.required.assign(Experiment::required.begin(), Experiment::required.end());
    return schema;
  }();
  return kSchema;
}

}  // namespace ablate::config
