#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "models/empty_options.h"
#include "models/linear_attention_options.h"

namespace ablate::models {

class Mixer;
struct StackOptions;

// Every mixer says whether it `has_scores`, on which position schemes may act, and has `make`,
// which is defined beside the module in mixer.cpp and attention.cpp.

/// Multi-head attention (Vaswani et al. 2017, section 3.2.2) with free key and value widths; fewer
/// key/value heads than heads share them in groups (Ainslie et al. 2023).
struct MultiHead {
  static constexpr std::string_view name = "multi_head";
  static constexpr bool has_scores = true;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t heads = 8;
  std::optional<int64_t> d_k;
  std::optional<int64_t> d_v;
  std::optional<int64_t> key_value_heads;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "attention heads");
    visit("d_k", o.d_k, "width of a query and a key; absent: d_model / heads");
    visit("d_v", o.d_v, "width of a value; absent: d_model / heads");
    visit("key_value_heads", o.key_value_heads,
          "heads of keys and values, each shared by a group of heads; absent: heads");
  }
  static void rules(const MultiHead& o, auto&& require) {
    require(o.heads >= 1 && o.heads <= 1024, "heads", "must be from 1 to 1024");
    require(!o.d_k || (*o.d_k >= 1 && *o.d_k <= 65'536), "d_k", "must be from 1 to 65536");
    require(!o.d_v || (*o.d_v >= 1 && *o.d_v <= 65'536), "d_v", "must be from 1 to 65536");
    require(!o.key_value_heads || (*o.key_value_heads >= 1 && o.heads % *o.key_value_heads == 0),
            "key_value_heads", "must divide heads");
  }

  /// Whether heads of a model this wide have whole widths.
  constexpr bool divides(int64_t d_model) const {
    return heads < 1 || d_model % heads == 0 || (d_k && d_v);
  }
};

/// No sub-layer: positions do not exchange anything.
struct NoAttention : EmptyOptions {
  static constexpr std::string_view name = "none";
  static constexpr bool has_scores = false;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// A recurrent network in attention's place (Hochreiter & Schmidhuber 1997): left to right where
/// causal, otherwise both ways with half the width each.
struct Lstm : EmptyOptions {
  static constexpr std::string_view name = "lstm";
  static constexpr bool has_scores = false;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// A gated convolution in attention's place (Gehring et al. 2017, section 3.2), over the last
/// `width` positions where causal, otherwise over as many to both sides.
struct Convolution {
  static constexpr std::string_view name = "convolution";
  static constexpr bool has_scores = false;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t width = 3;

  static void fields(auto& o, auto&& visit) {
    visit("width", o.width, "positions seen at once; odd");
  }
  static void rules(const Convolution& o, auto&& require) {
    require(o.width >= 1 && o.width <= 255 && o.width % 2 == 1, "width",
            "must be odd and from 1 to 255");
  }
};

/// The mean of all values in attention's place (Zhang et al. 2018), of those so far where causal.
struct Average : EmptyOptions {
  static constexpr std::string_view name = "average";
  static constexpr bool has_scores = false;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// What mixes positions within one sequence.
using AttentionOptions =
    std::variant<MultiHead, NoAttention, Lstm, Convolution, Average, LinearAttention, DeltaRule>;

}  // namespace ablate::models
