#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/schema/layer_path.h"
#include "experiments/config/schema/option.h"

namespace ablate::config {

struct Experiment;

/// The keys of a configuration as a tree, derived from the option structs' fields().
struct Schema {
  using Type = options::Type::Kind;  // without `optional`

  Type type = Type::other;
  std::string name;  // the key, or the kind of an alternative
  std::string description;
  std::string fallback;               // the default as YAML; empty for mappings
  bool optional = false;              // may be null
  std::vector<std::string> choices;   // names of a choice, kinds of a variant
  std::vector<std::string> abouts;    // one sentence for each of them; may be empty
  std::string discriminator;          // of a variant
  size_t length = 0;                  // of a list; 0: any
  options::Bounds bounds;             // of a number, or of the numbers in a list
  std::vector<Schema> children;       // keys; the element of a list; a variant's alternatives
  std::vector<std::string> required;  // at the root: paths that have no default
  bool of_layer = false;              // its keys are those of a layer, as below `model`

  const Schema* find(std::string_view key) const;
};

/// Every dotted path below `schema` whose last key is `key`.
std::vector<std::string> paths_of(const Schema& schema, std::string_view key);

/// Every dotted path below `schema`, in the order of the fields, with those of all alternatives.
std::vector<std::string> all_paths(const Schema& schema);

/// The node at a dotted path, also in any alternative and in the elements of lists; null if there
/// is none.
const Schema* node_at(const Schema& schema, std::string_view path);

/// The nodes at a dotted path in all alternatives; the first is that of node_at().
std::vector<const Schema*> nodes_at(const Schema& schema, std::string_view path);

/// The variant whose discriminator is at a dotted path; null if another key is there.
const Schema* variant_of_kind(const Schema& schema, std::string_view path);

/// "integer", "list of 2 integers", "one of relu, gelu or silu", ...
std::string type_text(const Schema& schema);
/// The same with the bounds of numbers: "integer from 1 to 1024".
std::string bounded_type_text(const Schema& schema);

/// The schema of an Experiment.
const Schema& experiment_schema();

/// One value of a configuration: its dotted path and its YAML text.
struct Leaf {
  std::string path;
  std::string text;
  bool operator==(const Leaf&) const = default;
};

/// Adds the differences of layers from the model's: for each side the values that all of its layers
/// share, and one value for `changes`. Equal models give equal leaves.
void collect_layer_leaves(const models::TransformerOptions& model, const std::string& path,
                          std::vector<Leaf>& leaves);

/// The options in which one layer differs from another: `attention: {heads: 4}, block: parallel`.
std::string layer_text(const models::LayerOptions& layer, const models::LayerOptions& other);

/// Every value, with the kinds of variants, in the order of the fields.
std::vector<Leaf> leaves_of(const Experiment& experiment);

/// Those in which a layer differs from another; all of a section that has another kind.
std::vector<Leaf> differing_leaves(const models::LayerOptions& layer,
                                   const models::LayerOptions& other);

}  // namespace ablate::config
