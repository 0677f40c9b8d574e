#include "experiments/config/schema/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

using options::Type;

namespace {

constexpr size_t kMostPlaces = 3;

std::string missing_message(const Schema& schema, const std::string& path) {
  const auto* section = node_at(schema, path.substr(0, path.rfind('.')));
  return fmt::format("{} is missing; choose {}", path, alternatives(section->choices));
}

/// "; it belongs to kind learned" if another kind of the variant has `key`.
std::string hint_at_other_kinds(const Schema* section, const std::string& key) {
  if (section == nullptr || section->type != Schema::Type::variant) return {};
  std::vector<std::string> kinds;
  for (const auto& alternative : section->children)
    if (alternative.find(key)) kinds.push_back(alternative.name);
  if (kinds.empty()) return {};
  return fmt::format("; it belongs to {} {}", section->discriminator, alternatives(kinds));
}

/// The list that a single value may mean; a number of seeds, or one seed.
std::string suggested_list(const std::string& key, const std::string& value) {
  if (key != "seeds") return fmt::format("[{}]", value);
  const auto count = parse_integer({.type = Value::Type::scalar, .scalar = value}).value;
  if (const auto meant = meant_range(value); !meant.empty())
    return fmt::format("[{}]", fmt::join(meant, ", "));
  if (!count) return "all of them, such as [1, 2, 3]";
  if (*count < 2 || *count > 20) return fmt::format("[{}]", value);
  return fmt::format("[{0}] for {1} seeds, or [{1}] for seed {1} alone",
                     fmt::join(meant_range(fmt::format("1-{}", *count)), ", "), *count);
}

/// The type of a value at `path`; empty if `schema` has no such key.
std::string type_at(const Schema& schema, const std::string& path) {
  const auto* node = node_at(schema, path);
  if (node == nullptr) node = variant_of_kind(schema, path);
  return node == nullptr ? "" : type_text(*node);
}

/// The entry of a mapping for `key`; a new one without a value if the mapping has no such key.
Entry& entry_at(Value& mapping, const std::string& key) {
  auto found = std::ranges::find(mapping.entries, key, &Entry::key);
  if (found == mapping.entries.end()) found = mapping.entries.insert(found, {key, {}, {}});
  return *found;
}

/// A bare word is the kind: `rotary` is {kind: rotary}.
Value with_kind(const Value& value, const std::string& discriminator) {
  if (value.type != Value::Type::scalar) return value;
  return {.type = Value::Type::mapping,
          .entries = {{discriminator, value.mark, value}},
          .mark = value.mark};
}

/// The key that a bare word in place of the section gives; empty if none does.
std::string bare_key(const Type& type) {
  if (type.kind == Type::Kind::variant) return std::string(type.discriminator);
  const bool names_kind =
      type.kind == Type::Kind::record && type.records[0]->find(kKind) != nullptr;
  return names_kind ? std::string(kKind) : "";
}

/// The place of a word among those of a choice, or of a kind among those of a variant.
size_t index_of(const Type& type, std::string_view word) {
  return static_cast<size_t>(std::ranges::find(type.words, word) - type.words.begin());
}

/// Whether a layer gives the only key of a kind in place of the only key of another: a limit in
/// seconds for one in tokens.
bool replaces_only_key(const options::Record& before, const options::Record& after,
                       const Value& layer) {
  return &before != &after && before.fields.size() == 1 && after.fields.size() == 1 &&
         layer.find(after.fields.front().name) != nullptr;
}

/// The kind that a section has.
size_t kind_of(const Value& section, const Type& type, const void* before) {
  const auto* kind = section.find(type.discriminator);
  const auto given = kind == nullptr ? type.words.size() : index_of(type, kind->value.scalar);
  return given < type.words.size() ? given : type.index(before);
}

}  // namespace

void Reader::lay(const Value& value, const options::ConstSlot& before, Tree& tree) {
  dropped_.clear();
  if (is_mapping(value, path_))
    lay_keys(value, {before, path_, {}}, tree.root);
  else
    tree.root.failed = true;
  for (const auto& [path, why] : dropped_) tree.dropped[path] = why;
}

void Reader::lay_keys(const Value& value, const Section& section, Value& into) {
  const auto& [before, path, own] = section;
  into.type = Value::Type::mapping;
  auto known = own;
  for (const auto& field : before.record->fields) {
    known.emplace_back(field.name);
    if (const auto* entry = value.find(field.name))
      lay_member(*entry, {*field.type, before.at(field), join_path(path, field.name)}, into);
  }
  for (const auto& entry : value.entries)
    if (std::ranges::find(known, entry.key) == known.end())
      report_unknown(entry, path, known, into);
}

void Reader::lay_member(const Entry& entry, const Member& member, Value& section) {
  const auto& [type, before, path] = member;
  auto& own = entry_at(section, entry.key);
  own.mark = entry.mark;
  if (type.is<models::SideLayers>() || type.is<models::LayerChanges>())
    return lay_layers(entry.value, member, own.value);
  if (type.kind == Type::Kind::variant || type.kind == Type::Kind::record) {
    const auto key = bare_key(type);
    const auto given = key.empty() ? entry.value : with_kind(entry.value, key);
    if (given.type != entry.value.type) own.mark = given.mark;
    own.value.mark = own.mark;
    if (!is_mapping(given, path))
      own.value.failed = true;
    else if (type.kind == Type::Kind::variant)
      lay_variant(given, member, own.value);
    else
      lay_keys(given, {{type.records[0], before}, path, {}}, own.value);
    return;
  }
  own.value = entry.value;
  own.value.failed = !read_value(entry.value, path, type, nullptr);
  if (!type.is<Value>()) own.mark = entry.value.mark;
}

/// Options of single layers are kept as they are given, those of a side in a list of all that were
/// given one after the other: layer_changes.h lays them.
void Reader::lay_layers(const Value& value, const Member& member, Value& into) {
  if (member.type.is<models::LayerChanges>()) {
    const bool valid = is_list(value, member.path, 0);
    if (valid) into = value;
    into.mark = value.mark;
    into.failed = !valid;
    return;
  }
  into.type = Value::Type::list;
  into.mark = value.mark;
  const auto sections = value.type == Value::Type::list ? value.items : std::vector{value};
  for (const auto& section : sections)
    if (is_mapping(section, member.path))
      into.items.push_back(section);
    else
      into.failed = true;
}

void Reader::lay_variant(const Value& value, const Member& member, Value& into) {
  const auto& [type, before, path] = member;
  const std::string discriminator(type.discriminator);
  const auto path_of_kind = join_path(path, discriminator);
  const auto kind_before = kind_of(into, type, before);
  const Entry* chosen = value.find(discriminator);
  if (chosen == nullptr && lacks(path_of_kind, into.find(discriminator))) {
    problems_.add(into.mark, missing_message(whole_, path_of_kind));
    entry_at(into, discriminator).value.failed = true;
    return;
  }
  if (chosen != nullptr) {
    auto& own = entry_at(into, discriminator);
    if (!is_choice(chosen->value, path_of_kind, type)) {
      own.value.failed = true;
      return;
    }
    own = {discriminator, chosen->value.mark, chosen->value};
    if (const auto& word = type.words[kind_before]; word != chosen->value.scalar)
      change_kind(path, std::string(word), chosen->value.scalar, into);
  }
  const auto kind = kind_of(into, type, before);
  const auto* record = type.records[kind];
  const auto options = kind == type.index(before) ? options::held(type, before)
                                                  : options::ConstSlot{record, record->fresh};
  lay_keys(value, {options, path, {discriminator}}, into);
  if (replaces_only_key(*type.records[kind_before], *record, value))
    dropped_.erase(join_path(path, type.records[kind_before]->fields.front().name));
}

bool Reader::lacks(const std::string& path_of_kind, const Entry* kind) const {
  return std::ranges::find(whole_.required, path_of_kind) != whole_.required.end() &&
         (kind == nullptr || kind->value.type != Value::Type::scalar);
}

void Reader::change_kind(const std::string& path, const std::string& before,
                         const std::string& after, Value& section) {
  const auto* schema = node_at(whole_, path);
  const auto *of_before = schema->find(before), *of_after = schema->find(after);
  const auto take_out = [&](auto& self, const std::string& below, Value& at) -> void {
    std::erase_if(at.entries, [&](Entry& entry) {
      const auto key = join_path(below, entry.key);
      if (key == schema->discriminator) return false;
      if (entry.value.type == Value::Type::mapping) {
        self(self, key, entry.value);
        return entry.value.entries.empty();
      }
      const auto type = type_at(*of_before, key);
      if (!type.empty() && type == type_at(*of_after, key)) return false;
      dropped_[join_path(path, key)] =
          fmt::format("{} becomes {}", join_path(path, schema->discriminator), after);
      return true;
    });
  };
  section.renewed = true;
  take_out(take_out, "", section);
}

void Reader::decode(const Value& tree, const options::Slot& options) {
  for (const auto& field : options.record->fields) {
    const auto* entry = tree.find(field.name);
    if (entry != nullptr && entry->value.mark.source && !field.type->is<models::SideLayers>())
      read_value(entry->value, field.name.data(), *field.type, options.at(field));
  }
}

bool Reader::read_value(const Value& value, const std::string& path, const Type& type, void* slot) {
  switch (type.kind) {
    case Type::Kind::boolean:
      return assign(parse_boolean(value), value, path, slot);
    case Type::Kind::integer:
      return assign(parse_integer(value), value, path, slot);
    case Type::Kind::number:
      return assign(parse_number(value), value, path, slot);
    case Type::Kind::text:
      return assign(parse_text(value), value, path, slot);
    case Type::Kind::choice:
      if (!is_choice(value, path, type)) return false;
      if (slot != nullptr) type.select(slot, index_of(type, value.scalar));
      return true;
    case Type::Kind::optional:
      if (slot != nullptr) type.resize(slot, value.type == Value::Type::empty ? 0 : 1);
      return value.type == Value::Type::empty ||
             read_value(value, path, *type.element, slot == nullptr ? slot : type.at(slot, 0));
    case Type::Kind::list:
      return read_list(value, path, type, slot);
    case Type::Kind::variant:
      if (const auto kind = kind_of(value, type, slot); value.renewed || kind != type.index(slot))
        type.select(slot, kind);
      decode(value, options::held(type, slot));
      return true;
    case Type::Kind::record:
      decode(value, {type.records[0], slot});
      return true;
    case Type::Kind::other:
      if (slot != nullptr) *static_cast<Value*>(slot) = value;
      return true;
  }
  return false;
}

bool Reader::read_list(const Value& value, const std::string& path, const Type& type, void* slot) {
  if (!is_list(value, path, type.length)) return false;
  if (slot != nullptr && type.length == 0) type.resize(slot, value.items.size());
  bool valid = true;
  for (size_t i = 0; i < value.items.size(); ++i)
    valid = read_value(value.items[i], path, *type.element,
                       slot == nullptr ? slot : type.at(slot, i)) &&
            valid;
  return valid;
}

template <class T>
bool Reader::assign(Parsed<T> parsed, const Value& value, const std::string& path, void* slot) {
  if (!parsed.value)
    fail(value, path, parsed.why);
  else if (slot != nullptr)
    *static_cast<T*>(slot) = std::move(*parsed.value);
  return parsed.value.has_value();
}

bool Reader::is_mapping(const Value& value, const std::string& path) {
  if (value.type == Value::Type::mapping) return true;
  const auto what = path.empty() ? "the configuration" : path;
  if (value.type == Value::Type::empty)
    fail(value, path, fmt::format("{} is empty; give it keys or leave it out", what));
  else
    fail(value, path,
         fmt::format("{} must be a mapping, not {}{}", what, type_name(value.type),
                     hint_for_foreign_value(path, value.scalar)));
  return false;
}

bool Reader::is_list(const Value& value, const std::string& path, size_t length) {
  const auto wanted = length > 0 ? fmt::format("a list of {} values", length) : "a list";
  if (value.type == Value::Type::empty)
    fail(value, path, fmt::format("is empty; give {}", wanted));
  else if (value.type == Value::Type::scalar && length > 1)  // the others are not known
    fail(value, path, fmt::format("must be {}, not 1", wanted));
  else if (value.type == Value::Type::scalar)
    fail(value, path,
         fmt::format("must be {}; write {}", wanted, suggested_list(last_key(path), value.scalar)));
  else if (value.type == Value::Type::mapping)
    fail(value, path, fmt::format("must be {}, not a mapping", wanted));
  else if (length > 0 && value.items.size() != length)
    fail(value, path, fmt::format("must be {}, not {}", wanted, value.items.size()));
  else
    return true;
  return false;
}

bool Reader::is_choice(const Value& value, const std::string& path, const Type& type) {
  const std::vector<std::string> all(type.words.begin(), type.words.end());
  if (auto why = not_single(value, alternatives(all)); !why.empty()) {
    fail(value, path, why);
    return false;
  }
  if (std::ranges::find(all, value.scalar) != all.end()) return true;
  const auto dot = path.rfind('.');
  const auto section = dot == std::string::npos ? "" : " in " + path.substr(0, dot);
  problems_.add(value.mark,
                fmt::format("unknown {} {}{}{}", last_key(path), in_quotes(value.scalar), section,
                            hint_for_value(path, value.scalar, all)));
  return false;
}

void Reader::fail(const Value& value, const std::string& path, const std::string& why) {
  const bool complete = path.empty() || why.starts_with(path);
  problems_.add(value.mark, complete ? why : path + " " + why);
}

void Reader::report_unknown(const Entry& entry, const std::string& path,
                            const std::vector<std::string>& known, Value& into) {
  const bool section = entry.value.type == Value::Type::mapping;
  if (const auto meant = nearest(entry.key, known); !meant.empty() && !section)
    entry_at(into, meant).value.failed = true;
  problems_.add(entry.mark,
                fmt::format("unknown key {}{}{}", in_quotes(entry.key),
                            path.empty() ? "" : " in " + path, hint(entry.key, path, known)));
}

std::string Reader::hint(const std::string& key, const std::string& path,
                         const std::vector<std::string>& known) {
  if (auto found = hint_at_other_kinds(node_at(whole_, path), key); !found.empty()) return found;
  if (key == "type" && std::ranges::find(known, "kind") != known.end())
    return "; did you mean 'kind'?";
  auto elsewhere = paths_of(whole_, key);
  const auto around = path.substr(0, path.find('.')) + ".";
  const bool near = std::ranges::any_of(
      elsewhere, [&](const std::string& other) { return other.starts_with(around); });
  if (auto ours = hint_for_foreign_key(key); !near && !ours.empty()) return ours;
  if (!elsewhere.empty()) {
    const auto depth = [](const std::string& at) { return std::ranges::count(at, '.'); };
    // Keys of the same section come first, and those that are not deep.
    std::ranges::stable_sort(elsewhere, {}, depth);
    std::stable_partition(elsewhere.begin(), elsewhere.end(),
                          [&](const std::string& other) { return other.starts_with(path + "."); });
    // The keys of model.encoder and model.decoder repeat those of the model.
    const auto first = depth(elsewhere.front());
    std::erase_if(elsewhere, [&](const std::string& other) {
      return other.starts_with(path + ".") && depth(other) > first;
    });
    elsewhere.resize(std::min(elsewhere.size(), kMostPlaces));
    return fmt::format("; did you mean {}?", alternatives(elsewhere));
  }
  if (const auto meant = nearest(key, known); !meant.empty())
    return fmt::format("; did you mean '{}'?", meant);
  if (auto meant = hint_for_misspelt_foreign_key(key); !meant.empty()) return meant;
  return fmt::format("; the keys are {}", fmt::join(known, ", "));
}

void decode(const Value& tree, const options::Slot& options) {
  ProblemList reported;
  Reader({}, reported).decode(tree, options);
}

Tree read(const Value& value, const options::Slot& options, Reader reader) {
  Tree tree{.root = {.type = Value::Type::mapping, .mark = value.mark}};
  reader.lay(value, options, tree);
  decode(tree.root, options);
  return tree;
}

void report_missing(const Schema& schema, const Tree& tree, ProblemList& problems) {
  for (const auto& path : schema.required)
    if (!tree.has(path) && tree.readable(path))
      problems.add(tree.place(path), missing_message(schema, path));
}

}  // namespace ablate::config
