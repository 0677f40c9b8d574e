#include "experiments/config/schema/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

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

bool Reader::is_kind(const Value& value, const std::string& path,
                     const std::vector<std::string>& all) {
  return is_choice(value, path, all);
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
