#include "options/record.h"

#include <algorithm>

namespace ablate::options {

const Field* Record::find(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

Slot held(const Type& variant, void* slot) {
  return {variant.records[variant.index(slot)], variant.at(slot, 0)};
}

ConstSlot held(const Type& variant, const void* slot) {
  return held(variant, const_cast<void*>(slot));
}

namespace {

template <class T>
bool same(const void* left, const void* right) {
  return *static_cast<const T*>(left) == *static_cast<const T*>(right);
}

bool equal_elements(const Type& type, const void* left, const void* right) {
  const auto size = type.size(left);
  if (size != type.size(right)) return false;
  for (size_t i = 0; i < size; ++i)
    if (!equal(*type.element, element_of(type, left, i), element_of(type, right, i))) return false;
  return true;
}

}  // namespace

bool equal(const Type& type, const void* left, const void* right) {
  switch (type.kind) {
    case Type::Kind::boolean:
      return same<bool>(left, right);
    case Type::Kind::integer:
      return same<int64_t>(left, right);
    case Type::Kind::number:
      return same<double>(left, right);
    case Type::Kind::text:
      return same<std::string>(left, right);
    case Type::Kind::choice:
      return type.index(left) == type.index(right);
    case Type::Kind::optional:
    case Type::Kind::list:
      return equal_elements(type, left, right);
    case Type::Kind::variant:
      return type.index(left) == type.index(right) &&
             equal(*held(type, left).record, held(type, left).options, held(type, right).options);
    case Type::Kind::record:
      return equal(*type.records[0], left, right);
    case Type::Kind::other:
      return left == right;
  }
  return false;
}

namespace {

/// Whether a number, or every number in an optional or a list, is within the bounds.
bool within(const Bounds& bounds, const Type& type, const void* slot) {
  if (type.kind == Type::Kind::integer)
    return bounds.hold(static_cast<double>(*static_cast<const int64_t*>(slot)));
  if (type.kind == Type::Kind::number) return bounds.hold(*static_cast<const double*>(slot));
  for (size_t i = 0; i < type.size(slot); ++i)
    if (!within(bounds, *type.element, element_of(type, slot, i))) return false;
  return true;
}

}  // namespace

void check(const ConstSlot& options, const Require& require) {
  for (const auto& field : options.record->fields)
    if (field.bounds.given())
      require(within(field.bounds, *field.type, options.at(field)), field.name,
              "must be " + text_of(field.bounds));
  if (options.record->rules != nullptr) options.record->rules(options.options, require);
}

ConstSlot section(const ConstSlot& options, std::string_view key) {
  const auto& field = *options.record->find(key);
  const auto* slot = options.at(field);
  if (field.type->kind == Type::Kind::variant) return held(*field.type, slot);
  return {field.type->records[0], slot};
}

bool equal(const Record& record, const void* left, const void* right) {
  return std::ranges::all_of(record.fields, [&](const Field& field) {
    return equal(*field.type, ConstSlot{&record, left}.at(field),
                 ConstSlot{&record, right}.at(field));
  });
}

}  // namespace ablate::options
