#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// What a configuration may hold, as a tree, derived from the option structs' fields().
struct Schema {
  enum class Type { boolean, integer, number, text, choice, list, mapping, variant, any };

  Type type = Type::any;
  std::string name;  // the key; of an alternative its kind
  std::string description;
  std::string fallback;               // the default as YAML; empty for mappings
  bool optional = false;              // may be null
  std::vector<std::string> choices;   // names of a choice, kinds of a variant
  std::string discriminator;          // of a variant
  size_t length = 0;                  // of a list; 0: any
  std::vector<Schema> children;       // keys; the element of a list; a variant's alternatives
  std::vector<std::string> required;  // at the root: paths that have no default
  bool of_layer = false;  // its keys are those of a layer, which stand below `model`, too

  const Schema* find(std::string_view key) const;
};

/// Every dotted path below `schema` whose last key is `key`.
std::vector<std::string> paths_of(const Schema& schema, std::string_view key);

/// Every dotted path below `schema`, those of all alternatives included, in reading order.
std::vector<std::string> all_paths(const Schema& schema);

/// The node at a dotted path; null: there is none. Keys of any alternative and of the elements of
/// lists are found.
const Schema* node_at(const Schema& schema, std::string_view path);

/// "integer", "list of 2 integers", "one of relu, gelu or silu", ...
std::string type_text(const Schema& schema);

/// The schema of an Experiment.
const Schema& experiment_schema();

}  // namespace ablate::config
