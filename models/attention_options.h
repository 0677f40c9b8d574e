#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "models/empty_options.h"
#include "models/linear_attention_options.h"

namespace ablate::models {

class Mixer;
struct StackOptions;

// Every mixer says whether it `has_scores`, on which position schemes may act, and has `make`,
// which is defined beside the module in mixer.cpp and attention.cpp.

/// A norm of the queries and keys of every head, before positions turn them: rms as in Henry et al.
/// 2020, up to their trained scale; layer as in Dehghani et al. 2023.
enum class QkNorm { none, rms, layer };

constexpr auto names(QkNorm) {
  return std::to_array<std::pair<QkNorm, std::string_view>>(
      {{QkNorm::none, "none"}, {QkNorm::rms, "rms"}, {QkNorm::layer, "layer"}});
}

/// What the product of a query and a key is multiplied by.
struct ScaleOptions : EmptyOptions {
  std::optional<double> value;
  bool learned = false;

  static void fields(auto& o, auto&& visit) {
    visit("value", o.value, "the factor; absent: 1 / sqrt(d_k)");
    visit("learned", o.learned,
          "train one factor for each head (Henry et al. 2020), the value being its first");
  }
  static void rules(const ScaleOptions& o, auto&& require) {
    require(!o.value || (*o.value > 0 && *o.value <= 1e6), "value",
            "must be positive and at most 1e6");
  }
};

/// How the scores s of a query become weights, n being the keys that it sees. softmax_one:
/// e^s / (1 + sum of e^s) (Miller 2023); sigmoid: sigmoid(s - ln n) (Ramapuram et al. 2024); relu2:
/// relu(s)^2 / n (Wortsman et al. 2023).
enum class ScoreWeights { softmax, softmax_one, sigmoid, relu2 };

constexpr auto names(ScoreWeights) {
  return std::to_array<std::pair<ScoreWeights, std::string_view>>(
      {{ScoreWeights::softmax, "softmax"},
       {ScoreWeights::softmax_one, "softmax_one"},
       {ScoreWeights::sigmoid, "sigmoid"},
       {ScoreWeights::relu2, "relu2"}});
}

/// A gate sigmoid(W x + b) on the output of every head, x being the attention's input (Qiu et al.
/// 2025): one number for a head, or one for each element.
enum class OutputGate { none, head, element };

constexpr auto names(OutputGate) {
  return std::to_array<std::pair<OutputGate, std::string_view>>(
      {{OutputGate::none, "none"}, {OutputGate::head, "head"}, {OutputGate::element, "element"}});
}

/// Multi-head attention (Vaswani et al. 2017, section 3.2.2) with free key and value widths; fewer
/// key/value heads than heads share them in groups (Ainslie et al. 2023). A window is that of
/// Beltagy et al. 2020, sinks those of gpt-oss (OpenAI 2025), the cap that of Gemma 2 (2024).
struct MultiHead {
  static constexpr std::string_view name = "multi_head";
  static constexpr bool has_scores = true;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t heads = 8;
  std::optional<int64_t> d_k;
  std::optional<int64_t> d_v;
  std::optional<int64_t> key_value_heads;
  QkNorm qk_norm = QkNorm::none;
  ScaleOptions scale;
  ScoreWeights weights = ScoreWeights::softmax;
  std::optional<int64_t> window;
  bool sinks = false;
  double cap = 0.0;
  OutputGate gate = OutputGate::none;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "attention heads");
    visit("d_k", o.d_k, "width of a query and a key; absent: d_model / heads");
    visit("d_v", o.d_v, "width of a value; absent: d_model / heads");
    visit("key_value_heads", o.key_value_heads,
          "heads of keys and values, each shared by a group of heads; absent: heads");
    visit(
        "qk_norm", o.qk_norm,
        "a norm of the queries and keys of every head: none, rms or layer, with norm's epsilon of "
        "1e-5");
    visit("scale", o.scale, "what the product of a query and a key is multiplied by");
    visit("weights", o.weights,
          "how scores become weights: softmax; softmax_one (with 1 more in the denominator); "
          "sigmoid(score - ln n) or relu2 (relu(score)^2 / n) of a query that sees n keys");
    visit("window", o.window,
          "a query sees the keys at a distance below this, itself included; absent: all");
    visit("sinks", o.sinks,
          "a trained score for each head that takes part in the softmax and has no value");
    visit("cap", o.cap, "scores become cap tanh(score / cap); 0: they stay");
    visit("gate", o.gate,
          "a gate on the output of every head: none, head (one number) or element (each its own)");
  }
  static void rules(const MultiHead& o, auto&& require) {
    require(o.heads >= 1 && o.heads <= 1024, "heads", "must be from 1 to 1024");
    require(!o.d_k || (*o.d_k >= 1 && *o.d_k <= 65'536), "d_k", "must be from 1 to 65536");
    require(!o.d_v || (*o.d_v >= 1 && *o.d_v <= 65'536), "d_v", "must be from 1 to 65536");
    require(!o.key_value_heads || (*o.key_value_heads >= 1 && o.heads % *o.key_value_heads == 0),
            "key_value_heads", "must divide heads");
    require(!o.window || (*o.window >= 1 && *o.window <= 1'048'576), "window",
            "must be from 1 to 1048576");
    require(!o.sinks || o.weights == ScoreWeights::softmax, "sinks",
            "must be false where weights is not softmax, in which alone they take part");
    require(o.cap >= 0, "cap", "must not be negative");
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

/// The mean of all values in attention's place, of those so far where causal: the average of Zhang
/// et al. 2018, without the feed-forward and the gates that follow it there.
struct Average : EmptyOptions {
  static constexpr std::string_view name = "average";
  static constexpr bool has_scores = false;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// What mixes positions within one sequence.
using AttentionOptions =
    std::variant<MultiHead, NoAttention, Lstm, Convolution, Average, LinearAttention, DeltaRule>;

/// Whether the attention has scores for a position scheme to act on.
constexpr bool has_scores(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) { return Held::has_scores; }, attention);
}

}  // namespace ablate::models
