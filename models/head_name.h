#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/options/transformer_options.h"

namespace ablate::models {

// Layers, attentions and heads are called as their modules are, and counted from 0 on.

/// A layer with its own weights: "encoder.layers.0".
struct LayerName {
  Side side = Side::encoder;
  int64_t layer = 0;

  bool operator==(const LayerName&) const = default;
};

/// A layer's attention over its own sequence, "decoder.layers.1.attention", or over the encoder's
/// output, "decoder.layers.1.cross_attention".
struct AttentionName {
  LayerName layer;
  bool over_memory = false;

  bool operator==(const AttentionName&) const = default;
};

/// One head of an attention: "decoder.layers.1.cross_attention.0".
struct HeadName {
  AttentionName attention;
  int64_t head = 0;

  bool operator==(const HeadName&) const = default;
};

inline std::string text_of(const LayerName& name) {
  return text_of(name.side) + ".layers." + std::to_string(name.layer);
}
inline std::string text_of(const AttentionName& name) {
  return text_of(name.layer) + (name.over_memory ? ".cross_attention" : ".attention");
}
inline std::string text_of(const HeadName& name) {
  return text_of(name.attention) + "." + std::to_string(name.head);
}

/// Reads a name from its front. A number may have zeros before it, so that the caller compares the
/// whole text with the name.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : rest_(text) {}

  bool word(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool number(int64_t& value) {
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    rest_.remove_prefix(static_cast<size_t>(read.ptr - rest_.data()));
    return read.ec == std::errc() && value >= 0;
  }
  bool layer(LayerName& name) {
    name.side = word("decoder") ? Side::decoder : Side::encoder;
    return (name.side == Side::decoder || word("encoder")) && word(".layers.") &&
           number(name.layer);
  }
  bool head(HeadName& name) {
    auto& attention = name.attention;
    if (!layer(attention.layer)) return false;
    attention.over_memory = word(".cross_attention.");
    return (attention.over_memory || word(".attention.")) && number(name.head);
  }

 private:
  std::string_view rest_;
};

/// The layer that `text` names; nullopt if `text` has another form.
inline std::optional<LayerName> parse_layer(std::string_view text) {
  LayerName name;
  if (!NameReader(text).layer(name) || text_of(name) != text) return {};
  return name;
}

/// The same of a head.
inline std::optional<HeadName> parse_head(std::string_view text) {
  HeadName name;
  if (!NameReader(text).head(name) || text_of(name) != text) return {};
  return name;
}

/// How many heads an attention of the model has; 0 if the model has no such attention.
inline int64_t head_count(const TransformerOptions& o, const AttentionName& name) {
  if (!has_side(o.family, name.layer.side)) return 0;
  const auto stack = stack_of(o, name.layer.side);
  if (name.layer.layer >= stack.different_layers()) return 0;
  const auto& layer = stack.layer(name.layer.layer);
  if (!name.over_memory) return head_count(layer.attention);
  const auto* cross = std::get_if<MultiHead>(&layer.cross_attention);
  return cross != nullptr ? cross->heads : 0;
}

/// The attentions that have heads, in the order of a pass: the encoder first, layer by layer, a
/// layer's own before that over the encoder's output, and a shared layer each time it is run.
inline std::vector<AttentionName> attentions_of(const TransformerOptions& o) {
  std::vector<AttentionName> names;
  for (const auto side : {Side::encoder, Side::decoder}) {
    if (!has_side(o.family, side)) continue;
    const auto stack = stack_of(o, side);
    for (int64_t depth = 0; depth < stack.depth; ++depth) {
      const LayerName name{side, stack.layer_at(depth)};
      const auto& layer = stack.layer(name.layer);
      if (head_count(layer.attention) > 0) names.push_back({name, false});
      if (is_sublayer(layer.cross_attention)) names.push_back({name, true});
    }
  }
  return names;
}

}  // namespace ablate::models
