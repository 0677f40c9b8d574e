#include "experiments/config/schema/layer_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "experiments/config/schema/layer_path.h"
#include "experiments/config/schema/reader.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

using models::Side;

/// Keys for some layers: one element of `changes`, or an overlay of one side.
struct Change {
  Value keys;
  std::string shown;  // "model.encoder"
  std::vector<Side> sides;
  ChangePlace place;
  bool listed = false;  // in `changes`
};

/// Applies the changes of one model.
class LayerBuilder {
 public:
  /// `given` is the entry of the tree for the key `model`.
  LayerBuilder(models::TransformerOptions& model, const Entry& given, ProblemList& problems)
      : model_(model), given_(given), problems_(problems) {}

  void build() {
    std::vector<std::pair<Change, std::vector<NumberedLayer>>> laid;
    for (auto& change : changes()) {
      auto layers = touched(change);
      if (lay(change, layers)) laid.emplace_back(std::move(change), std::move(layers));
    }
    for (const auto& [layer, tree] : layers_) decode(tree.root, options::slot_of(own(layer)));
    // Encoders have no cross-attention, so changes of all layers do not apply to it there.
    for (auto& layer : model_.encoder) layer.cross_attention = model_.layer.cross_attention;
    for (const auto& [change, layers] : laid)
      if (change.listed && !survives(change, layers))
        problems_.add(
            change.keys.mark,
            "the change has no effect: later elements of model.changes override all of it");
  }

  /// The layers of one side that changes select, by their numbers.
  Value layers(Side side) const {
    Value all{.type = Value::Type::mapping, .mark = given_.mark};
    for (const auto& [layer, tree] : layers_)
      if (layer.first == side)
        all.entries.push_back({std::to_string(layer.second), given_.mark, tree.root});
    return all;
  }

 private:
  bool has(Side side) const { return models::has_side(model_.family, side); }
  int64_t count(Side side) const { return models::different_layers_of(model_, side); }

  std::vector<Change> changes() {
    std::vector<Change> all;
    for (const auto side : {Side::encoder, Side::decoder})
      for (const auto& keys : items_of(text_of(side)))
        all.push_back(
            {.keys = keys, .shown = "model." + text_of(side), .sides = {side}, .place = {}});
    for (const auto& item : items_of("changes"))
      if (auto change = listed_change(item)) all.push_back(std::move(*change));
    return all;
  }

  std::vector<Value> items_of(const std::string& key) const {
    const auto* entry = given_.value.find(key);
    return entry == nullptr ? std::vector<Value>() : entry->value.items;
  }

  /// Splits an item of `changes` into the keys that select layers and those of a layer.
  std::optional<Change> listed_change(const Value& item) {
    if (item.type != Value::Type::mapping) {
      problems_.add(item.mark, fmt::format("model.changes must be a list of mappings, not {}",
                                           type_name(item.type)));
      return {};
    }
    Change change{.keys = nested(item, problems_), .shown = "model.changes", .listed = true};
    Value place{.type = Value::Type::mapping, .mark = item.mark};
    const auto selects = [](const Entry& entry) {
      return options::record_of<ChangePlace>().find(entry.key) != nullptr;
    };
    std::ranges::copy_if(change.keys.entries, std::back_inserter(place.entries), selects);
    std::erase_if(change.keys.entries, selects);
    const auto tree =
        read(place, options::slot_of(change.place), {experiment_schema(), problems_, change.shown});
    const auto failed = [](const Entry& entry) { return entry.value.failed; };
    if (std::ranges::any_of(tree.root.entries, failed) || !check_place(change)) return {};
    if (change.keys.entries.empty()) {
      problems_.add(item.mark, "the change has no key of a layer, such as attention");
      return {};
    }
    change.sides = change.place.side ? std::vector{*change.place.side}
                                     : std::vector{Side::encoder, Side::decoder};
    std::erase_if(change.sides, [&](Side side) { return !has(side); });
    return change;
  }

  bool check_place(const Change& change) {
    const auto& [every, at, side] = change.place;
    const auto need = [&](bool holds, const std::string& why) {
      if (!holds) problems_.add(change.keys.mark, why);
      return holds;
    };
    return need(!every || at.empty(), "the change has every and at; give one of them") &&
           need(every.value_or(1) >= 1, "model.changes.every must be positive") &&
           need(std::ranges::all_of(at, [](int64_t number) { return number >= 1; }),
                "model.changes.at must be numbers of layers, which are counted from 1") &&
           need(!side || has(*side),
                fmt::format("the change has no effect: a{}_only model has no {}",
                            side == Side::encoder ? " decoder" : "n encoder",
                            side ? text_of(*side) : ""));
  }

  /// The layers that the change selects; reports numbers that the model does not have.
  std::vector<NumberedLayer> touched(const Change& change) {
    std::vector<NumberedLayer> layers;
    for (const auto side : change.sides)
      for (int64_t number = 1; number <= count(side); ++number)
        if (is_of(change.place, number)) layers.emplace_back(side, number);
    if (!change.listed) return layers;
    std::string sizes;
    for (const auto side : change.sides)
      sizes += fmt::format(fmt::runtime(sizes.empty() ? "the {} has {} layers" : " and the {} {}"),
                           text_of(side), count(side));
    for (const auto number : change.place.at)
      if (std::ranges::none_of(change.sides, [&](Side side) { return number <= count(side); }))
        problems_.add(change.keys.mark,
                      fmt::format("the change names layer {}, but {}", number, sizes));
    if (layers.empty() && change.place.at.empty())
      problems_.add(change.keys.mark, fmt::format("the change touches no layer: {}", sizes));
    return layers;
  }

  static bool is_of(const ChangePlace& place, int64_t number) {
    if (place.every) return number % *place.every == 0;
    return place.at.empty() || std::ranges::find(place.at, number) != place.at.end();
  }

  /// Applies the change; false if some of it could not be read.
  bool lay(const Change& change, const std::vector<NumberedLayer>& layers) {
    const bool encodes = change.sides == std::vector{Side::encoder};
    if (const auto* cross = change.keys.find("cross_attention"); cross != nullptr && encodes)
      problems_.add(cross->mark, change.shown +
                                     ".cross_attention has no effect: only a decoder attends to "
                                     "the encoder's output");
    std::vector<std::pair<Problem, std::vector<NumberedLayer>>> found;
    for (const auto& layer : layers)
      for (const auto& problem : lay_over(change, layer)) {
        auto same =
            std::ranges::find_if(found, [&](const auto& one) { return one.first == problem; });
        if (same == found.end()) same = found.insert(same, {problem, {}});
        same->second.push_back(layer);
      }
    for (auto& [problem, where] : found) {
      if (where != layers) problem.message += fmt::format(" ({})", text_of(where));
      problems_.add(std::move(problem));
    }
    return found.empty();
  }

  std::vector<Problem> lay_over(const Change& change, const NumberedLayer& layer) {
    const auto [found, is_first] = layers_.try_emplace(layer);
    auto& tree = found->second;
    if (is_first) {
      tree.root.mark = given_.mark;
      for (const auto& field : options::record_of<models::LayerOptions>().fields)
        if (const auto* entry = given_.value.find(field.name)) tree.root.entries.push_back(*entry);
    }
    ProblemList problems;
    Reader(experiment_schema(), problems, change.shown)
        .lay(change.keys, options::slot_of(model_layer_), tree);
    return problems.all();
  }

  models::LayerOptions& own(const NumberedLayer& layer) const {
    return models::own_layers(model_, layer.first).at(static_cast<size_t>(layer.second - 1));
  }

  /// Whether at least one value of the change is still in use in one of its layers.
  bool survives(const Change& change, const std::vector<NumberedLayer>& layers) const {
    for (const auto& layer : layers)
      for (const auto& [key, given] : leaves_of(change.keys))
        if (const auto* last = layers_.at(layer).find(key); last && last->mark == given->value.mark)
          return true;
    return layers.empty();  // reported elsewhere
  }

  models::TransformerOptions& model_;
  const Entry& given_;
  const models::LayerOptions model_layer_ = model_.layer;
  ProblemList& problems_;
  std::map<NumberedLayer, Tree> layers_;  // those that a change selects
};

void lay_changes(models::TransformerOptions& model, Tree& tree, ProblemList& problems) {
  const auto given = std::ranges::find(tree.root.entries, "model", &Entry::key);
  const bool sane =
      models::has_sane_depth(model, Side::encoder) && models::has_sane_depth(model, Side::decoder);
  if (!sane || given == tree.root.entries.end()) return;
  LayerBuilder builder(model, *given, problems);
  builder.build();
  for (const auto side : {Side::encoder, Side::decoder}) {
    auto layers = builder.layers(side);
    auto& keys = given->value.entries;
    const auto found = std::ranges::find(keys, text_of(side), &Entry::key);
    if (found != keys.end())
      found->value = std::move(layers);
    else if (!layers.entries.empty())
      keys.push_back({text_of(side), given->mark, std::move(layers)});
  }
}

/// Gives the keys of a classifier that have one legal value this one, unless they are given.
void lay_implied(Tree& tree, ProblemList& problems) {
  static const Experiment kDefault;
  const auto* task = tree.find("data.task");
  if (task == nullptr || task->value.scalar != "labelled") return;
  Value keys{.type = Value::Type::mapping, .mark = task->mark};
  for (const auto& [path, word] : {std::pair{"model.family", "encoder_only"},
                                   {"model.output.kind", "label"},
                                   {"model.tying", "none"}})
    if (!tree.has(path))
      put(keys,
          {path, task->mark, {.type = Value::Type::scalar, .scalar = word, .mark = task->mark}},
          Repeated::problem, problems);
  Reader(experiment_schema(), problems).lay(keys, options::slot_of(kDefault), tree);
}

}  // namespace

Layered decoded(const Tree& tree, ProblemList& problems) {
  Layered run{.experiment = {}, .tree = tree};
  lay_implied(run.tree, problems);
  decode(run.tree.root, options::slot_of(run.experiment));
  lay_changes(run.experiment.model, run.tree, problems);
  return run;
}

}  // namespace ablate::config
