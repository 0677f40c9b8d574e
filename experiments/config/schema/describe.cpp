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
std::vector<Schema> describe_alternatives(const Type& type, const void* slot) {
  std::vector<Schema> all;
  for (const auto* record : type.records) {
    const auto own = options::held(type, slot);
    all.push_back({.type = Schema::Type::record,
                   .name = std::string(record->name),
                   .description = std::string(record->about),
                   .children = describe_fields(
                       record == own.record ? own : ConstSlot{record, record->fresh})});
  }
  return all;
}

Schema describe_optional(const Type& type, const void* slot) {
  auto schema = describe_member(*type.element, type.element->fresh);
  schema.optional = true;
  schema.fallback = yaml_of(type, slot);
  return schema;
}

/// The schema of an element of `model.changes`.
Schema describe_change() {
  auto schema = describe_layer();
  const auto place = describe(options::slot_of(ChangePlace{})).children;
  schema.children.insert(schema.children.begin(), place.begin(), place.end());
  return schema;
}

Schema describe_member(const Type& type, const void* slot) {
  using Kind = Type::Kind;
  if (type.is<models::SideLayers>()) return describe_layer();
  if (type.is<models::LayerChanges>())
    return {.type = Kind::list, .fallback = "[]", .children = {describe_change()}};
  if (type.kind == Kind::optional) return describe_optional(type, slot);
  Schema schema{.type = type.kind,
                .choices = strings_of(type.words),
                .abouts = strings_of(type.abouts),
                .discriminator = std::string(type.discriminator),
                .length = type.length};
  if (type.kind == Kind::record)
    schema.children = describe_fields({type.records[0], slot});
  else if (type.kind == Kind::variant)
    schema.children = describe_alternatives(type, slot);
  else if (type.kind == Kind::list)
    schema.children = {describe_member(*type.element, type.element->fresh)};
  if (type.kind == Kind::variant)
    schema.fallback = type.words[type.index(slot)];
  else if (type.kind != Kind::record && type.kind != Kind::other)
    schema.fallback = yaml_of(type, slot);
  return schema;
}

void forget_defaults(Schema& schema) {
  schema.fallback.clear();
  for (auto& child : schema.children) forget_defaults(child);
}

}  // namespace

Schema describe(const ConstSlot& options) {
  return {.type = Schema::Type::record, .children = describe_fields(options)};
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
