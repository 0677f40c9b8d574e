#include "experiments/config/schema/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

using options::Type;

namespace {

/// The place of a word among those of a choice, or of a kind among those of a variant.
size_t index_of(const Type& type, std::string_view word) {
  return static_cast<size_t>(std::ranges::find(type.words, word) - type.words.begin());
}

constexpr size_t kMostPlaces = 3;

std::string missing_message(const Schema& schema, const std::string& path) {
  const auto dot = path.rfind('.');
  const auto* section = node_at(schema, path.substr(0, dot));
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
  std::string list;
  for (int64_t seed = 1; seed <= *count; ++seed)
    list += fmt::format("{}{}", list.empty() ? "" : ", ", seed);
  return fmt::format("[{0}] for {1} seeds, or [{1}] for seed {1} alone", list, *count);
}

/// The type of a value at `path`; empty if `schema` has no such key.
std::string type_at(const Schema& schema, const std::string& path) {
  if (const auto* node = node_at(schema, path)) return type_text(*node);
  const auto dot = path.rfind('.');
  const auto* section = dot == path.npos ? nullptr : node_at(schema, path.substr(0, dot));
  const bool names_kind = section != nullptr && section->discriminator == last_key(path);
  return names_kind ? type_text(*section) : "";
}

}  // namespace

std::string Trail::deciding(const std::string& path) const {
  const auto layer = parse_layer_path(path);
  if (!layer || marks.contains(section_of(layer->side, layer->number))) return path;
  return layer->key.empty() ? "model" : join_path("model", layer->key);
}

Mark Trail::place(const std::string& path) const {
  const auto layer = parse_layer_path(deciding(path));
  const auto section = layer ? section_of(layer->side, layer->number) : "";
  for (std::string at = deciding(path); at != section;) {
    if (const auto found = marks.find(at); found != marks.end()) return found->second;
    const auto dot = at.rfind('.');
    at.resize(dot == std::string::npos ? 0 : dot);
  }
  return layer ? place(join_path("model", layer->key)) : start;
}

void Reader::lay_over(const Value& value, const options::Slot& options) {
  if (is_mapping(value, section_.path)) read_keys(value, section_.path, options, {});
}

void Reader::read_keys(const Value& value, const std::string& path, const options::Slot& options,
                       std::vector<std::string> known) {
  for (const auto& field : options.record->fields) {
    known.emplace_back(field.name);
    const Entry* entry = value.find(field.name);
    if (entry == nullptr) continue;
    const auto below = join_path(path, field.name);
    trail_.marks[below] = entry->mark;
    read_member(entry->value, below, *field.type, options.at(field));
  }
  for (const auto& entry : value.entries) report_unknown(entry, path, known);
}

void Reader::read_member(const Value& value, const std::string& path, const Type& type,
                         void* slot) {
  if (type.is<models::SideLayers>()) {
    const auto side = last_key(path) == "encoder" ? models::Side::encoder : models::Side::decoder;
    if (is_mapping(value, path)) trail_.side_changes.emplace_back(side, value);
  } else if (type.is<models::LayerChanges>()) {
    if (is_list(value, path, 0)) trail_.changes = value;
  } else if (type.kind == Type::Kind::variant) {
    const auto given = with_kind(value, path, type.discriminator);
    if (is_mapping(given, path)) read_variant(given, path, type, slot);
  } else if (type.kind == Type::Kind::record) {
    const auto* record = type.records[0];
    const auto given = record->find(kKind) != nullptr ? with_kind(value, path, kKind) : value;
    if (is_mapping(given, path)) read_keys(given, path, {record, slot}, {});
  } else if (type.is<Value>()) {
    *static_cast<Value*>(slot) = value;
  } else {
    keep(path, value);
    read_value(value, path, type, slot);
  }
}

Value Reader::with_kind(const Value& value, const std::string& path,
                        std::string_view discriminator) {
  if (value.type != Value::Type::scalar) return value;
  trail_.marks[path] = value.mark;
  return {.type = Value::Type::mapping,
          .entries = {{std::string(discriminator), value.mark, value}},
          .mark = value.mark};
}

void Reader::read_variant(const Value& value, const std::string& path, const Type& type,
                          void* slot) {
  const auto path_of_kind = join_path(path, type.discriminator);
  const Entry* chosen = value.find(type.discriminator);
  if (chosen == nullptr) {
    if (lacks(path_of_kind)) return;
  } else {
    if (!is_choice(chosen->value, path_of_kind, {type.words.begin(), type.words.end()})) return;
    const auto before = type.words[type.index(slot)];
    const auto& word = chosen->value.scalar;
    if (before != word) {
      type.select(slot, index_of(type, word));
      const auto kept = carried_over(path, path_of_kind, std::string(before), word);
      read_keys(kept, path, options::held(type, slot), {});
    }
    keep(path_of_kind, chosen->value);
  }
  read_keys(value, path, options::held(type, slot), {std::string(type.discriminator)});
}

void Reader::read_value(const Value& value, const std::string& path, const Type& type, void* slot) {
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
      if (is_choice(value, path, {type.words.begin(), type.words.end()}))
        type.select(slot, index_of(type, value.scalar));
      return;
    case Type::Kind::optional:
      type.resize(slot, 0);
      if (value.type == Value::Type::empty) return;
      type.resize(slot, 1);
      return read_value(value, path, *type.element, type.at(slot, 0));
    case Type::Kind::list:
      return read_list(value, path, type, slot);
    case Type::Kind::variant:
    case Type::Kind::record:
      throw std::logic_error(path + " holds sections, which are not read");
    case Type::Kind::other:
      *static_cast<Value*>(slot) = value;
  }
}

void Reader::read_list(const Value& value, const std::string& path, const Type& type, void* slot) {
  if (!is_list(value, path, static_cast<int>(type.length))) return;
  if (type.length == 0) type.resize(slot, value.items.size());
  for (size_t i = 0; i < value.items.size(); ++i)
    read_value(value.items[i], path, *type.element, type.at(slot, i));
}

template <class T>
void Reader::assign(Parsed<T> parsed, const Value& value, const std::string& path, void* slot) {
  if (parsed.value)
    *static_cast<T*>(slot) = std::move(*parsed.value);
  else
    fail(value, path, parsed.why);
}

bool Reader::is_mapping(const Value& value, const std::string& path) {
  if (value.type == Value::Type::mapping) return true;
  const auto what = path.empty() ? "the configuration" : shown(path);
  if (value.type == Value::Type::empty)
    fail(value, path, fmt::format("{} is empty; give it keys or leave it out", what));
  else
    fail(value, path,
         fmt::format("{} must be a mapping, not {}{}", what, type_name(value.type),
                     hint_for_foreign_value(shown(path), value.scalar)));
  return false;
}

bool Reader::is_list(const Value& value, const std::string& path, int length) {
  const auto wanted = length > 0 ? fmt::format("a list of {} values", length) : "a list";
  if (value.type == Value::Type::empty)
    fail(value, path, fmt::format("is empty; give {}", wanted));
  else if (value.type == Value::Type::scalar)
    fail(value, path,
         fmt::format("must be {}; write {}", wanted, suggested_list(last_key(path), value.scalar)));
  else if (value.type == Value::Type::mapping)
    fail(value, path, fmt::format("must be {}, not a mapping", wanted));
  else if (length > 0 && value.items.size() != static_cast<size_t>(length))
    fail(value, path, fmt::format("must be {}, not {}", wanted, value.items.size()));
  else
    return true;
  return false;
}

bool Reader::is_choice(const Value& value, const std::string& path,
                       const std::vector<std::string>& all) {
  if (auto why = not_single(value, alternatives(all)); !why.empty()) {
    fail(value, path, why);
    return false;
  }
  if (std::ranges::find(all, value.scalar) != all.end()) return true;
  const auto name = shown(path);
  const auto dot = name.rfind('.');
  const auto section = dot == std::string::npos ? "" : " in " + name.substr(0, dot);
  trail_.failed.insert(path);
  problems_.add(value.mark,
                fmt::format("unknown {} {}{}{}", last_key(path), in_quotes(value.scalar), section,
                            hint_for_value(name, value.scalar, all)));
  return false;
}

bool Reader::lacks(const std::string& path_of_kind) {
  const auto& required = schema_.required;
  if (std::ranges::find(required, path_of_kind) == required.end() ||
      trail_.marks.contains(path_of_kind))
    return false;
  problems_.add(trail_.place(path_of_kind), missing_message(schema_, path_of_kind));
  trail_.failed.insert(path_of_kind);
  return true;
}

void Reader::keep(const std::string& path, const Value& value) {
  trail_.marks[path] = value.mark;
  trail_.given[path] = value;
  std::erase_if(trail_.dropped, [&](const Dropped& before) { return before.path == path; });
}

Value Reader::carried_over(const std::string& path, const std::string& path_of_kind,
                           const std::string& before, const std::string& after) {
  const auto* section = node_at(schema_, shown(path));
  const auto *of_before = section->find(before), *of_after = section->find(after);
  Value kept{.type = Value::Type::mapping};
  const auto below = path + ".", behind = path + "/";  // a slash is the character after a dot
  const auto end = trail_.given.lower_bound(behind);
  for (auto at = trail_.given.lower_bound(below); at != end; ++at) {
    const auto& [given, value] = *at;
    if (given == path_of_kind) continue;
    const auto key = given.substr(below.size());
    const auto type = type_at(*of_before, key);
    if (type.empty() || type != type_at(*of_after, key))
      trail_.dropped.push_back({given, fmt::format("{} is {}", path_of_kind, after)});
    else if (!trail_.failed.contains(given))
      put(kept, {key, trail_.marks.at(given), value}, Repeated::last_wins, problems_);
  }
  const auto forget = [&](auto& entries) {
    entries.erase(entries.lower_bound(below), entries.lower_bound(behind));
  };
  forget(trail_.marks);
  forget(trail_.given);
  return kept;
}

void Reader::fail(const Value& value, const std::string& path, const std::string& why) {
  trail_.failed.insert(path);
  const auto name = shown(path);
  const bool complete = name.empty() || why.starts_with(name);
  problems_.add(value.mark, complete ? why : name + " " + why);
}

void Reader::report_unknown(const Entry& entry, const std::string& path,
                            const std::vector<std::string>& known) {
  if (std::ranges::find(known, entry.key) != known.end()) return;
  const bool section = entry.value.type == Value::Type::mapping;
  if (const auto meant = nearest(entry.key, known); !meant.empty() && !section)
    trail_.failed.insert(join_path(path, meant));
  problems_.add(entry.mark, fmt::format("unknown key {}{}{}", in_quotes(entry.key),
                                        path.empty() ? "" : " in " + shown(path),
                                        hint(entry.key, shown(path), known)));
}

std::string Reader::hint(const std::string& key, const std::string& path,
                         const std::vector<std::string>& known) {
  if (auto found = hint_at_other_kinds(node_at(schema_, path), key); !found.empty()) return found;
  if (auto ours = hint_for_foreign_key(key); !ours.empty()) return ours;
  auto elsewhere = paths_of(schema_, key);
  if (!elsewhere.empty()) {
    // Keys of the same section come first.
    std::stable_partition(elsewhere.begin(), elsewhere.end(),
                          [&](const std::string& other) { return other.starts_with(path + "."); });
    const auto depth = [](const std::string& at) { return std::ranges::count(at, '.'); };
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
  return fmt::format("; the keys are {}", fmt::join(known, ", "));
}

void report_missing(const Schema& schema, const Trail& trail, ProblemList& problems) {
  for (const auto& path : schema.required)
    if (!trail.marks.contains(path) && !trail.failed.contains(path))
      problems.add(trail.place(path), missing_message(schema, path));
}

}  // namespace ablate::config
