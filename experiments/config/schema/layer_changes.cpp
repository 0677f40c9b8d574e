#include "experiments/config/schema/layer_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

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

void forget_layers(Trail& trail) {
  const auto of_layer = [](const auto& entry) { return parse_layer_path(entry.first).has_value(); };
  std::erase_if(trail.marks, of_layer);
  std::erase_if(trail.given, of_layer);
  std::erase_if(trail.failed, [](const auto& path) { return parse_layer_path(path).has_value(); });
}

/// All entries at `path` and below it. A slash is the character after a dot.
template <class Ordered>
auto entries_at(const Ordered& all, const std::string& path) {
  std::vector<typename Ordered::value_type> entries(all.lower_bound(path + "."),
                                                    all.lower_bound(path + "/"));
  if (const auto own = all.find(path); own != all.end()) entries.push_back(*own);
  return entries;
}

/// Copies the trail's entries of the model's layer to the layer at `section`.
void copy_base(Trail& trail, const std::string& section) {
  for (const auto& field : options::record_of<models::LayerOptions>().fields) {
    const auto base = join_path("model", field.name), own = join_path(section, field.name);
    const auto moved = [&](const std::string& path) { return own + path.substr(base.size()); };
    for (const auto& [path, mark] : entries_at(trail.marks, base)) trail.marks[moved(path)] = mark;
    for (const auto& [path, value] : entries_at(trail.given, base))
      trail.given[moved(path)] = value;
    for (const auto& path : entries_at(trail.failed, base)) trail.failed.insert(moved(path));
  }
}

/// Every single value below a mapping, with its path.
void collect_values(const Value& value, const std::string& path,
                    std::vector<std::pair<std::string, Mark>>& values) {
  if (value.type != Value::Type::mapping) values.emplace_back(path, value.mark);
  for (const auto& entry : value.entries)
    collect_values(entry.value, join_path(path, entry.key), values);
}

bool same_place(const Mark& left, const Mark& right) {
  return left.source == right.source && left.line == right.line && left.column == right.column;
}

/// Applies the changes of one model.
class LayerBuilder {
 public:
  LayerBuilder(models::TransformerOptions& model, Trail& trail, ProblemList& problems)
      : model_(model), trail_(trail), problems_(problems) {}

  void build() {
    std::vector<std::pair<Change, LayerNumbers>> laid;
    for (auto& change : changes()) {
      auto layers = touched(change);
      if (lay(change, layers)) laid.emplace_back(std::move(change), std::move(layers));
    }
    // Encoders have no cross-attention, so changes of all layers do not apply to it there.
    for (auto& layer : model_.encoder) layer.cross_attention = model_.cross_attention;
    for (const auto& [change, layers] : laid)
      if (change.listed && !survives(change, layers))
        problems_.add(
            change.keys.mark,
            "the change has no effect: later elements of model.changes override all of it");
  }

 private:
  bool has(Side side) const { return models::has_side(model_.family, side); }
  int64_t count(Side side) const { return models::different_layers_of(model_, side); }

  std::vector<Change> changes() {
    std::vector<Change> all;
    for (const auto& [side, keys] : trail_.side_changes)
      all.push_back(
          {.keys = keys, .shown = "model." + text_of(side), .sides = {side}, .place = {}});
    for (const auto& item : trail_.changes.items)
      if (auto change = listed_change(item)) all.push_back(std::move(*change));
    return all;
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
    for (const auto* key : {"every", "at", "side"})
      if (const auto* entry = change.keys.find(key)) place.entries.push_back(*entry);
    std::erase_if(change.keys.entries, [](const Entry& entry) {
      return entry.key == "every" || entry.key == "at" || entry.key == "side";
    });
    Trail trail;
    Reader(experiment_schema(), problems_, trail, {change.shown, change.shown})
        .lay_over(place, options::slot_of(change.place));
    if (!trail.failed.empty() || !check_place(change)) return {};
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
  LayerNumbers touched(const Change& change) {
    LayerNumbers layers;
    for (const auto side : change.sides)
      for (int64_t number = 1; number <= count(side); ++number)
        if (is_of(change.place, number)) layers.of(side).push_back(number);
    if (!change.listed) return layers;
    std::string sizes;
    for (const auto side : change.sides)
      sizes += fmt::format(fmt::runtime(sizes.empty() ? "the {} has {} layers" : " and the {} {}"),
                           text_of(side), count(side));
    const bool none = layers.encoder.empty() && layers.decoder.empty();
    for (const auto number : change.place.at)
      if (std::ranges::none_of(change.sides, [&](Side side) { return number <= count(side); }))
        problems_.add(change.keys.mark,
                      fmt::format("the change names layer {}, but {}", number, sizes));
    if (none && change.place.at.empty())
      problems_.add(change.keys.mark, fmt::format("the change touches no layer: {}", sizes));
    return layers;
  }

  static bool is_of(const ChangePlace& place, int64_t number) {
    if (place.every) return number % *place.every == 0;
    return place.at.empty() || std::ranges::find(place.at, number) != place.at.end();
  }

  /// Applies the change; false if some of it could not be read.
  bool lay(const Change& change, const LayerNumbers& layers) {
    const bool encodes = change.sides == std::vector{Side::encoder};
    if (const auto* cross = change.keys.find("cross_attention"); cross != nullptr && encodes)
      problems_.add(cross->mark, change.shown +
                                     ".cross_attention has no effect: only a decoder attends to "
                                     "the encoder's output");
    std::vector<std::pair<Problem, LayerNumbers>> found;
    for (const auto& [side, numbers] :
         {std::pair{Side::encoder, layers.encoder}, std::pair{Side::decoder, layers.decoder}})
      for (const auto number : numbers)
        for (const auto& problem : lay_over(change, side, number)) {
          auto same = std::ranges::find(found, problem, &std::pair<Problem, LayerNumbers>::first);
          if (same == found.end()) same = found.insert(same, {problem, {}});
          same->second.of(side).push_back(number);
        }
    for (auto& [problem, numbers] : found) {
      if (numbers.text() != layers.text()) problem.message += fmt::format(" ({})", numbers.text());
      problems_.add(std::move(problem));
    }
    return found.empty();
  }

  std::vector<Problem> lay_over(const Change& change, Side side, int64_t number) {
    const auto section = section_of(side, number);
    if (!trail_.marks.contains(section)) copy_base(trail_, section);
    trail_.marks[section] = change.keys.mark;
    ProblemList problems;
    const auto dropped = trail_.dropped;  // those of the model's layer stay reported
    auto& layer = models::own_layers(model_, side).at(static_cast<size_t>(number - 1));
    Reader(experiment_schema(), problems, trail_, {section, change.shown})
        .lay_over(change.keys, options::slot_of(layer));
    trail_.dropped = dropped;
    return problems.all();
  }

  /// Whether at least one value of the change is still in use in one of its layers.
  bool survives(const Change& change, const LayerNumbers& layers) const {
    std::vector<std::pair<std::string, Mark>> values;
    collect_values(change.keys, "", values);
    for (const auto& [side, numbers] :
         {std::pair{Side::encoder, layers.encoder}, std::pair{Side::decoder, layers.decoder}})
      for (const auto number : numbers)
        for (const auto& [key, mark] : values) {
          const auto last = trail_.marks.find(join_path(section_of(side, number), key));
          if (last != trail_.marks.end() && same_place(last->second, mark)) return true;
        }
    return layers.encoder.empty() && layers.decoder.empty();  // reported elsewhere
  }

  models::TransformerOptions& model_;
  Trail& trail_;
  ProblemList& problems_;
};

}  // namespace

void lay_changes(models::TransformerOptions& model, Trail& trail, ProblemList& problems) {
  model.encoder.clear();
  model.decoder.clear();
  forget_layers(trail);
  const bool sane =
      models::has_sane_depth(model, Side::encoder) && models::has_sane_depth(model, Side::decoder);
  if (sane) LayerBuilder(model, trail, problems).build();
}

}  // namespace ablate::config
