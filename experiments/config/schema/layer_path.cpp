#include "experiments/config/schema/layer_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>

#include "experiments/config/schema/schema.h"

namespace ablate::config {
namespace {

/// "encoder layers 2, 4 and 6"
std::string listed(models::Side side, const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
  return fmt::format("{} {} {}", text_of(side), numbers.size() == 1 ? "layer" : "layers", text);
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

std::string LayerNumbers::text() const {
  std::string text;
  if (!encoder.empty()) text = listed(models::Side::encoder, encoder);
  if (!decoder.empty()) text += (text.empty() ? "" : ", ") + listed(models::Side::decoder, decoder);
  return text;
}

namespace {

using models::Side;
using LayerTexts = std::map<std::string, std::string, std::less<>>;  // by path

std::vector<Leaf> leaves_of_layer(const models::LayerOptions& layer) {
  std::vector<Leaf> leaves;
  collect_leaves(options::slot_of(layer), "", leaves);
  return leaves;
}

LayerTexts texts_of(const std::vector<Leaf>& leaves) {
  LayerTexts texts;
  for (const auto& [path, text] : leaves) texts[path] = text;
  return texts;
}

std::string layer_text_at(const LayerTexts& texts, const std::string& path) {
  const auto found = texts.find(path);
  return found == texts.end() ? "" : found->second;
}

bool is_variant_section(const std::string& section) {
  const auto* node = node_at(experiment_schema(), join_path("model", section));
  return node != nullptr && node->type == Schema::Type::variant;
}

/// Whether every variant around `path` has the same kind in both.
bool same_kinds(const std::string& path, const LayerTexts& left, const LayerTexts& right) {
  for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    const auto section = path.substr(0, dot), kind = section + ".kind";
    if (layer_text_at(left, kind) != layer_text_at(right, kind) && is_variant_section(section))
      return false;
  }
  return true;
}

/// The leaves in which a layer differs from another; all leaves of a section with another kind.
std::vector<Leaf> differing(const models::LayerOptions& own, const models::LayerOptions& other) {
  auto leaves = leaves_of_layer(own);
  const auto ours = texts_of(leaves), theirs = texts_of(leaves_of_layer(other));
  std::erase_if(leaves, [&](const Leaf& leaf) {
    return layer_text_at(theirs, leaf.path) == leaf.text && same_kinds(leaf.path, ours, theirs);
  });
  return leaves;
}

/// The differences that all layers of a side share.
std::vector<Leaf> shared_by(const models::SideLayers& layers,
                            const std::vector<std::vector<Leaf>>& differences) {
  if (layers.empty()) return {};
  auto shared = differences.front();
  const auto first = texts_of(leaves_of_layer(layers.front()));
  for (size_t i = 1; i < layers.size(); ++i) {
    const auto all = texts_of(leaves_of_layer(layers[i])), own = texts_of(differences[i]);
    std::erase_if(shared, [&](const Leaf& leaf) {
      return layer_text_at(own, leaf.path) != leaf.text || !same_kinds(leaf.path, first, all);
    });
  }
  return shared;
}

/// `heads: 4, scale: {value: 2}` as YAML, from the leaves' paths without their first `prefix`
/// characters.
std::string flow_of(std::span<const Leaf> leaves, size_t prefix) {
  std::string text;
  while (!leaves.empty()) {
    const auto& path = leaves.front().path;
    const auto dot = path.find('.', prefix);
    if (!text.empty()) text += ", ";
    if (dot == path.npos) {
      text += fmt::format("{}: {}", path.substr(prefix), leaves.front().text);
      leaves = leaves.subspan(1);
      continue;
    }
    const auto section = path.substr(0, dot + 1);
    const auto end = std::ranges::find_if(
        leaves, [&](const Leaf& leaf) { return !leaf.path.starts_with(section); });
    const auto count = static_cast<size_t>(end - leaves.begin());
    text += fmt::format("{}: {{{}}}", path.substr(prefix, dot - prefix),
                        flow_of(leaves.first(count), dot + 1));
    leaves = leaves.subspan(count);
  }
  return text;
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
  return flow_of(differing(layer, other), 0);
}

void collect_layer_leaves(const models::TransformerOptions& model, const std::string& path,
                          std::vector<Leaf>& leaves) {
  ChangePrinter changes;
  for (const auto side : {Side::encoder, Side::decoder}) {
    const auto& layers = models::list_of(model, side);
    std::vector<std::vector<Leaf>> differences;
    for (const auto& layer : layers) differences.push_back(differing(layer, model.layer));
    const auto shared = shared_by(layers, differences);
    for (const auto& leaf : shared)
      leaves.push_back({join_path(join_path(path, text_of(side)), leaf.path), leaf.text});
    const auto texts = texts_of(shared);
    std::vector<std::string> keys;
    for (auto& own : differences) {
      std::erase_if(own,
                    [&](const Leaf& leaf) { return layer_text_at(texts, leaf.path) == leaf.text; });
      keys.push_back(flow_of(own, 0));
    }
    changes.add(side, keys);
  }
  if (!changes.empty()) leaves.push_back({join_path(path, "changes"), changes.text(model.family)});
}

}  // namespace ablate::config
