#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/schema/layer_path.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// A value that was given and is ignored, because a later layer chose another kind for its section,
/// and that kind has no such key.
struct Dropped {
  std::string path;
  std::string kind;  // "training.schedule.kind is linear"
};

/// Where the values of an experiment were given. The place of a section is the last key that named
/// it.
struct Trail {
  std::map<std::string, Mark> marks;   // dotted path -> place
  std::map<std::string, Value> given;  // dotted path of a value that is no section -> as given
  std::set<std::string> failed;        // paths whose value could not be read
  std::vector<Dropped> dropped;
  Mark start;  // the place of paths that were not given
  /// The overlays of model.encoder and model.decoder, in their order, and model.changes;
  /// lay_changes() applies them to the layers.
  std::vector<std::pair<models::Side, Value>> side_changes;
  Value changes;

  /// The place of `path`, or else of the nearest section around it.
  Mark place(const std::string& path) const;
  /// The path that decides the value: `path`, or the model's if no change selects the layer of
  /// `path`.
  std::string deciding(const std::string& path) const;
};

/// A section: its path in a trail, and its path in messages and in the schema.
struct Section {
  std::string path, shown;
};

/// Overlays option structs with values, and reports every unknown key and every value of the wrong
/// type. Options that are not given keep their values. If another kind of a variant is chosen,
/// values given for the kind before are kept if the new kind has a key of the same name and type;
/// its other options have their defaults, and Trail::dropped lists the values that it has no key
/// for.
class Reader {
 public:
  /// Values are of `section`; by default they are of the whole configuration.
  Reader(const Schema& schema, ProblemList& problems, Trail& trail, Section section = {})
      : schema_(schema), problems_(problems), trail_(trail), section_(std::move(section)) {}

  template <OptionStruct Options>
  void lay_over(const Value& value, Options& options) {
    const auto& path = section_.path;
    if (is_mapping(value, path)) read_keys(value, path, options, {});
  }

 private:
  template <OptionStruct Options>
  void read_keys(const Value& value, const std::string& path, Options& options,
                 std::vector<std::string> known) {
    Options::fields(options, [&](std::string_view name, auto& slot, std::string_view) {
      known.emplace_back(name);
      const Entry* entry = value.find(name);
      if (entry == nullptr) return;
      const auto below = join_path(path, name);
      trail_.marks[below] = entry->mark;
      read_slot(entry->value, below, slot);
    });
    for (const auto& entry : value.entries) report_unknown(entry, path, known);
  }

  template <class T>
  void read_slot(const Value& value, const std::string& path, T& slot) {
    if constexpr (std::is_same_v<T, models::SideLayers>) {
      const auto side = last_key(path) == "encoder" ? models::Side::encoder : models::Side::decoder;
      if (is_mapping(value, path)) trail_.side_changes.emplace_back(side, value);
    } else if constexpr (std::is_same_v<T, models::LayerChanges>) {
      if (is_list(value, path, 0)) trail_.changes = value;
    } else if constexpr (is_variant<T>) {
      const auto given = with_kind(value, path, discriminator_of(slot));
      if (is_mapping(given, path)) read_variant(given, path, slot);
    } else if constexpr (OptionStruct<T>) {
      const auto given = has_kind(slot) ? with_kind(value, path, kKind) : value;
      if (is_mapping(given, path)) read_keys(given, path, slot, {});
    } else if constexpr (std::is_same_v<T, Value>) {
      slot = value;
    } else {
      keep(path, value);
      read_value(value, path, slot);
    }
  }

  /// A bare word is the kind: `rotary` is {kind: rotary}.
  Value with_kind(const Value& value, const std::string& path, std::string_view discriminator) {
    if (value.type != Value::Type::scalar) return value;
    trail_.marks[path] = value.mark;
    return {.type = Value::Type::mapping,
            .entries = {{std::string(discriminator), value.mark, value}},
            .mark = value.mark};
  }

  template <class... Options>
  void read_variant(const Value& value, const std::string& path, std::variant<Options...>& slot) {
    const auto path_of_kind = join_path(path, discriminator_of(slot));
    const Entry* chosen = value.find(discriminator_of(slot));
    if (chosen == nullptr) {
      if (lacks(path_of_kind)) return;
    } else {
      if (!is_kind(chosen->value, path_of_kind, kinds_of(slot))) return;
      const std::string before =
          std::visit([](const auto& o) { return std::string(o.name); }, slot);
      if (before != chosen->value.scalar) {
        (take<Options>(chosen->value, slot), ...);
        const auto kept = carried_over(path, path_of_kind, before, chosen->value.scalar);
        std::visit([&](auto& options) { read_keys(kept, path, options, {}); }, slot);
      }
      keep(path_of_kind, chosen->value);
    }
    const std::vector<std::string> known{std::string(discriminator_of(slot))};
    std::visit([&](auto& options) { read_keys(value, path, options, known); }, slot);
  }

  template <class Option, class... Options>
  void take(const Value& kind, std::variant<Options...>& slot) {
    if (kind.scalar == Option::name) slot.template emplace<Option>();
  }

  template <class T>
  void read_value(const Value& value, const std::string& path, T& slot) {
    if constexpr (is_optional<T>) {
      if (value.type == Value::Type::empty) return slot.reset();
      typename T::value_type inner{};
      read_value(value, path, inner);
      slot = inner;
    } else if constexpr (List<T>) {
      if (!is_list(value, path, list_length<T>)) return;
      if constexpr (list_length<T> == 0) slot.assign(value.items.size(), {});
      for (size_t i = 0; i < value.items.size(); ++i) read_value(value.items[i], path, slot[i]);
    } else if constexpr (std::is_same_v<T, Value>) {
      slot = value;
    } else if constexpr (Choice<T>) {
      if (!is_choice(value, path, choices_of(slot))) return;
      for (const auto& [choice, word] : names(T{}))
        if (word == value.scalar) slot = choice;
    } else {
      assign(parse(value, slot), value, path, slot);
    }
  }

  static Parsed<bool> parse(const Value& value, bool) { return parse_boolean(value); }
  static Parsed<int64_t> parse(const Value& value, int64_t) { return parse_integer(value); }
  static Parsed<double> parse(const Value& value, double) { return parse_number(value); }
  static Parsed<std::string> parse(const Value& value, const std::string&) {
    return parse_text(value);
  }

  template <class T>
  void assign(Parsed<T> parsed, const Value& value, const std::string& path, T& slot) {
    if (parsed.value)
      slot = std::move(*parsed.value);
    else
      fail(value, path, parsed.why);
  }

  std::string shown(const std::string& path) const {
    return section_.shown + path.substr(section_.path.size());
  }
  bool is_mapping(const Value& value, const std::string& path);
  bool is_list(const Value& value, const std::string& path, int length);
  bool is_choice(const Value& value, const std::string& path, const std::vector<std::string>& all);
  bool is_kind(const Value& value, const std::string& path, const std::vector<std::string>& all);
  /// Reports `path_of_kind` if it has no default and was not given yet.
  bool lacks(const std::string& path_of_kind);
  /// Records that `path` has `value`.
  void keep(const std::string& path, const Value& value);
  /// The values given below the section at `path` for its kind `before` that `after` can take, too.
  /// Removes all of them from the trail, and records those that `after` has no key for.
  Value carried_over(const std::string& path, const std::string& path_of_kind,
                     const std::string& before, const std::string& after);
  void fail(const Value& value, const std::string& path, const std::string& why);
  void report_unknown(const Entry& entry, const std::string& path,
                      const std::vector<std::string>& known);
  std::string hint(const std::string& key, const std::string& path,
                   const std::vector<std::string>& known);

  const Schema& schema_;
  ProblemList& problems_;
  Trail& trail_;
  Section section_;
};

/// Reports the paths without a default that were not given.
void report_missing(const Schema& schema, const Trail& trail, ProblemList& problems);

}  // namespace ablate::config
