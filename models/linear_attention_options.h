#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace ablate::models {

class Mixer;
struct StackOptions;

/// How fast a linear attention forgets.
enum class Forgetting { none, fixed, gated };

constexpr auto names(Forgetting) {
  return std::to_array<std::pair<Forgetting, std::string_view>>(
      {{Forgetting::none, "none"}, {Forgetting::fixed, "fixed"}, {Forgetting::gated, "gated"}});
}

/// Members of the mixers that keep a matrix for each head in place of keys and values.
struct MatrixState {
  static constexpr bool has_scores = false;
  int64_t heads = 8;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "heads, each with a state of its own; must divide d_model");
  }
  static void rules(const MatrixState& o, auto&& require) {
    require(o.heads >= 1 && o.heads <= 1024, "heads", "must be from 1 to 1024");
  }
};

/// Attention without softmax, whose sum over the past is a matrix of fixed size. Without decay it
/// is the linear Transformer of Katharopoulos et al. 2020: elu(x) + 1 of queries and keys, divided
/// by the sum of the weights. With a fixed one, head h forgets the share 2^(-5-h) at each position,
/// at the rates of retention (Sun et al. 2023). Gated, the input says at each position how much a
/// head keeps, at the rates of the gated retention of Sun et al. 2024. Both of these are divided by
/// the size of the weights' sum where that is above 1, as in mLSTM (Beck et al. 2024), in the place
/// of retention's group norm, and multiplied by silu of a projection of the input, as retention is.
/// Neither is a RetNet: that norms every head and turns queries and keys by their positions.
struct LinearAttention : MatrixState {
  static constexpr std::string_view name = "linear";
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  Forgetting decay = Forgetting::none;

  static void fields(auto& o, auto&& visit) {
    MatrixState::fields(o, visit);
    visit(
        "decay", o.decay,
        "none: all positions count alike (linear Transformer); fixed: each head forgets at a rate "
        "of its own (RetNet's, without its group norm and turned queries and keys), in an encoder "
        "to both sides; gated: the input decides how much is forgotten, in a decoder alone");
  }
};

/// Linear attention that replaces what it has stored under a key instead of adding to it: the delta
/// rule (Schlag et al. 2021), with keys and queries of length 1 (Yang et al. 2024) but without that
/// model's SiLU, short convolutions and norm. It goes from left to right, in a decoder alone.
struct DeltaRule : MatrixState {
  static constexpr std::string_view name = "delta";
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

}  // namespace ablate::models
