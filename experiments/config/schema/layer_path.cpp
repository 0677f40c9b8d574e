#include "experiments/config/schema/layer_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "experiments/config/schema/schema.h"

namespace ablate::config {
namespace {

/// "encoder layers 2, 4 and 6"
std::string listed(models::Side side, const std::vector<int64_t>& numbers) {
  if (numbers.size() == 1) return fmt::format("{} layer {}", text_of(side), numbers.front());
  return fmt::format("{} layers {} and {}", text_of(side),
                     fmt::join(numbers.begin(), numbers.end() - 1, ", "), numbers.back());
}

}  // namespace

std::string section_of(models::Side side, int64_t number) {
  return fmt::format("model.{}.{}", text_of(side), number);
}

std::optional<LayerPath> parse_layer_path(std::string_view path) {
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    const auto prefix = fmt::format("model.{}.", text_of(side));
    if (!path.starts_with(prefix)) continue;
    LayerPath found{.side = side, .number = 0, .key = {}};
    const auto* end = path.data() + path.size();
    const auto [rest, error] = std::from_chars(path.data() + prefix.size(), end, found.number);
    if (error != std::errc() || (rest != end && *rest != '.')) return {};
    if (rest != end) found.key.assign(rest + 1, end);
    return found;
  }
  return {};
}

std::string text_of(const std::vector<NumberedLayer>& layers) {
  std::string text;
  for (const auto side : {models::Side::encoder, models::Side::decoder}) {
    std::vector<int64_t> numbers;
    for (const auto& [of, number] : layers)
      if (of == side) numbers.push_back(number);
    if (!numbers.empty()) text += (text.empty() ? "" : ", ") + listed(side, numbers);
  }
  return text;
}

namespace {

using models::Side;

/// The differences from the model's layer that all layers of a side share.
std::vector<Leaf> shared_by(const models::SideLayers& layers, const models::LayerOptions& model) {
  if (layers.empty()) return {};
  auto shared = differing_leaves(layers.front(), model);
  for (const auto& layer : layers) {
    const auto own = differing_leaves(layers.front(), layer);
    std::erase_if(shared, [&](const Leaf& leaf) { return std::ranges::count(own, leaf) > 0; });
  }
  return shared;
}

/// `heads: 4, scale: {value: 2}` as YAML.
std::string flow_of(const std::vector<Leaf>& leaves) {
  Value sections{.type = Value::Type::mapping};
  ProblemList none;
  for (const auto& [path, text] : leaves)
    put(sections, {path, {}, {.type = Value::Type::scalar, .scalar = text}}, Repeated::problem,
        none);
  const auto text = text_of(sections);
  return text.substr(1, text.size() - 2);  // without braces
}

/// "every: 2", or "at: [1, 4]" if the layers are not all multiples of a number.
std::string place_of(const std::vector<int64_t>& numbers, size_t layers) {
  const auto first = numbers.front();
  bool multiples =
      first > 1 && numbers.size() > 1 && numbers.size() == layers / static_cast<size_t>(first);
  for (size_t i = 0; i < numbers.size(); ++i)
    multiples = multiples && numbers[i] == static_cast<int64_t>(i + 1) * first;
  return multiples ? fmt::format("every: {}", first) : fmt::format("at: {}", yaml_of(numbers));
}

/// A change of some layers, on one side or on both.
struct PrintedChange {
  std::string place, keys;
  std::vector<Side> sides;
};

class ChangePrinter {
 public:
  void add(Side side, const std::vector<std::string>& keys) {  // of each layer; empty: unchanged
    std::vector<std::string> seen;
    for (const auto& text : keys) {
      if (text.empty() || std::ranges::find(seen, text) != seen.end()) continue;
      seen.push_back(text);
      std::vector<int64_t> numbers;
      for (size_t i = 0; i < keys.size(); ++i)
        if (keys[i] == text) numbers.push_back(static_cast<int64_t>(i + 1));
      const auto place = place_of(numbers, keys.size());
      auto same = std::ranges::find_if(changes_, [&](const PrintedChange& change) {
        return change.place == place && change.keys == text;
      });
      if (same == changes_.end()) same = changes_.insert(same, {place, text, {}});
      same->sides.push_back(side);
    }
  }

  /// The side is printed only if the model has both.
  std::string text(models::Family family) const {
    std::string text;
    for (const auto& [place, keys, sides] : changes_) {
      const bool one = family == models::Family::encoder_decoder && sides.size() == 1;
      text += fmt::format("{}{{{}, {}{}}}", text.empty() ? "" : ", ", place,
                          one ? fmt::format("side: {}, ", text_of(sides.front())) : "", keys);
    }
    return fmt::format("[{}]", text);
  }

  bool empty() const { return changes_.empty(); }

 private:
  std::vector<PrintedChange> changes_;
};

}  // namespace

std::string layer_text(const models::LayerOptions& layer, const models::LayerOptions& other) {
  return flow_of(differing_leaves(layer, other));
}

void collect_layer_leaves(const models::TransformerOptions& model, const std::string& path,
                          std::vector<Leaf>& leaves) {
  ChangePrinter changes;
  for (const auto side : {Side::encoder, Side::decoder}) {
    const auto& layers = models::list_of(model, side);
    const auto shared = shared_by(layers, model.layer);
    for (const auto& leaf : shared)
      leaves.push_back({join_path(join_path(path, text_of(side)), leaf.path), leaf.text});
    std::vector<std::string> keys;
    for (const auto& layer : layers) {
      auto own = differing_leaves(layer, model.layer);
      std::erase_if(own, [&](const Leaf& leaf) { return std::ranges::count(shared, leaf) > 0; });
      keys.push_back(flow_of(own));
    }
    changes.add(side, keys);
  }
  if (!changes.empty()) leaves.push_back({join_path(path, "changes"), changes.text(model.family)});
}

}  // namespace ablate::config
