#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "models/options/option_traits.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

class Mixer;
struct StackOptions;

inline constexpr auto kWeightDropoutHelp =
    "dropout probability of attention weights in training (attn_pdrop, attention_dropout); the "
    "others are divided by the share that is kept, without another softmax";

// What MultiHead adds to attention are stages: the files of attention/ say what each of them does,
// and its paper.

ABLATE_ENUM(QkNorm, none, rms, layer);
constexpr auto abouts(QkNorm) {
  return std::to_array<std::string_view>(
      {"queries and keys as they are projected",
       "an RMS norm of every head's queries and keys, as in Qwen 3 (after Henry et al. 2020, arXiv "
       "2010.04245)",
       "a layer norm of them (Dehghani et al. 2023, arXiv 2302.05442)"});
}

/// The factor of query-key products.
struct ScaleOptions : EmptyOptions {
  std::optional<double> value;
  bool learned = false;

  static void fields(auto& o, auto&& visit) {
    visit("value", o.value, "the factor; absent: 1 / sqrt(d_k)", options::above(0, 1e6));
    visit("learned", o.learned,
          "learn one factor per head (Henry et al. 2020), initialised with value");
  }
};

ABLATE_ENUM(ScoreFunction, softmax, softmax_one, scalable_softmax, softpick, sigmoid, relu2);
constexpr auto abouts(ScoreFunction) {
  return std::to_array<std::string_view>(
      {"the softmax over the keys that a query sees (Vaswani et al. 2017, arXiv 1706.03762)",
       "a softmax with 1 more in the denominator, so that a query may look at nothing (Miller "
       "2023)",
       "the softmax of score ln n of a query that sees n keys, as sharp among many (Nakanishi "
       "2025, arXiv 2501.19399); scale.learned gives each head the paper's factor s",
       "relu(e^score - 1) over the sum of all |e^score - 1| (Zuhri et al. 2025, arXiv 2504.20966)",
       "sigmoid(score - ln n) of a query that sees n keys (Ramapuram et al. 2024, arXiv "
       "2409.04431)",
       "relu(score)^2 / n of a query that sees n keys (Hua et al. 2022, arXiv 2202.10447)"});
}

ABLATE_ENUM(OutputGate, none, head, element);
constexpr auto abouts(OutputGate) {
  return std::to_array<std::string_view>(
      {"what a head reads is projected as it is",
       "a sigmoid of the layer's input scales what each head reads (Qiu et al. 2025, arXiv "
       "2505.06708)",
       "a sigmoid of the layer's input for every element of what a head reads (Qiu et al. 2025)"});
}

ABLATE_ENUM(ValueResidual, none, fixed, learned);
constexpr auto abouts(ValueResidual) {
  return std::to_array<std::string_view>({"values of the layer alone",
                                          "the mean of both (Zhou et al. 2024, arXiv 2410.17897)",
                                          "two trained factors of each layer, which start at 0.5 "
                                          "(Zhou et al. 2024, arXiv 2410.17897)"});
}

/// Section 3.2.2, with free key and value widths. A window is that of Beltagy et al. 2020.
struct MultiHead {
  static constexpr std::string_view name = "multi_head";
  static constexpr std::string_view about =
      "multi-head attention (Vaswani et al. 2017, arXiv 1706.03762), whose heads may share keys "
      "and "
      "values in groups (Ainslie et al. 2023, arXiv 2305.13245)";
  static constexpr bool is_sublayer = true;
  static constexpr MixerTraits traits{
      .has_scores = true, .lends_scores = true, .has_projections = true, .keeps_documents = true};
  constexpr bool can_forget() const { return !forgetting; }
  constexpr bool clips_scores() const { return !forgetting && qk_norm == QkNorm::none; }
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t heads = 8;
  std::optional<int64_t> d_k;
  std::optional<int64_t> d_v;
  std::optional<int64_t> key_value_heads;
  QkNorm qk_norm = QkNorm::none;
  ScaleOptions scale;
  ScoreFunction score_function = ScoreFunction::softmax;
  std::optional<int64_t> window;
  bool sinks = false;
  double softcap = 0.0, dropout = 0.0;
  OutputGate gate = OutputGate::none;
  ValueResidual value_residual = ValueResidual::none;
  bool value_embedding = false;
  bool exclusive = false;
  bool differential = false;
  bool forgetting = false;
  std::optional<bool> qkv_bias, output_bias;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "attention heads", options::from(1, 1024));
    visit("d_k", o.d_k, "width of a query and a key; absent: d_model / heads",
          options::from(1, 65'536));
    visit("d_v", o.d_v, "width of a value; absent: d_model / heads", options::from(1, 65'536));
    visit("key_value_heads", o.key_value_heads,
          "heads of keys and values (num_key_value_heads), each shared by a group of heads; "
          "absent: heads");
    visit("qk_norm", o.qk_norm,
          "norm of the queries and keys of every head: none, rms or layer, with the epsilon of the "
          "first layer's norm");
    visit("scale", o.scale, "the factor of query-key products");
    visit("score_function", o.score_function, "turns scores into attention weights");
    visit("window", o.window,
          "sliding window (sliding_window): a query sees the keys at a distance below this, itself "
          "included; absent: all",
          options::from(1, 1'048'576));
    visit("sinks", o.sinks,
          "a learned score per head that takes part in the softmax and has no value");
    visit("softcap", o.softcap,
          "logit soft-capping: scores become softcap * tanh(score / softcap); 0: no cap",
          options::at_least(0));
    visit("dropout", o.dropout, kWeightDropoutHelp, options::from_below(0, 1));
    visit("gate", o.gate,
          "a gate on the output of every head: none, head (one number per head) or element (one "
          "per element)");
    visit("value_residual", o.value_residual,
          "mix the values with those of the first layer that has this option");
    visit("value_embedding", o.value_embedding,
          "add to a position's values a vector of its token, from a table of this layer, times "
          "2 sigmoid(W x), a factor for each head of keys and values");
    visit("exclusive", o.exclusive,
          "exclusive self-attention: take away from what a head reads its component along the "
          "position's own value");
    visit(
        "differential", o.differential,
        "differential attention: every head has two queries for its keys and values, and subtracts "
        "sigmoid(W x) times the second's output from the first's");
    visit("forgetting", o.forgetting,
          "forgetting attention, in decoders: every position decides how much each head forgets of "
          "earlier positions");
    visit("qkv_bias", o.qkv_bias,
          "biases of queries, keys and values (attention_bias); absent: model.bias");
    visit("output_bias", o.output_bias, "bias of the output projection; absent: model.bias");
  }
  static void rules(const MultiHead& o, auto&& require) {
    require(!o.key_value_heads || (*o.key_value_heads >= 1 && o.heads % *o.key_value_heads == 0),
            "key_value_heads", "must divide heads");
    require(!o.sinks || o.score_function == ScoreFunction::softmax, "sinks",
            "must be false unless score_function is softmax");
    require(!o.forgetting || o.softcap == 0, "softcap",
            "must be 0 with forgetting, whose terms it would cap");
  }

  /// Calls visit(key, member, why) for the members that cross-attention cannot have.
  static void of_self_attention(auto& o, auto&& visit) {
    visit("window", o.window, "has no effect: targets and sources have no distance");
    visit("value_residual", o.value_residual,
          "must be none: only self-attention mixes values of several layers");
    visit("value_embedding", o.value_embedding,
          "must be false: its values are those of the encoder's output, not of tokens");
    visit("exclusive", o.exclusive,
          "must be false: a target has no value of its own among those of the source");
    visit("forgetting", o.forgetting, "must be false: targets and sources have no distance");
  }

  /// Attention maps: one for every query of a head.
  constexpr int64_t maps() const { return differential ? 2 * heads : heads; }

  /// Whether heads of a model this wide have whole widths.
  constexpr bool divides(int64_t d_model) const {
    return heads < 1 || d_model % heads == 0 || (d_k && d_v);
  }
};

/// Numbers and widths of the heads of one attention.
struct Heads {
  int64_t count, key_values;  // H, G
  int64_t d_k, d_v;           // K, W

  constexpr int64_t query_width() const { return count * d_k; }
  constexpr int64_t key_width() const { return key_values * d_k; }
  constexpr int64_t value_width() const { return key_values * d_v; }
};

/// Those that are projected, with the defaults filled in. Each query of a differential head is one
/// for the operations.
constexpr Heads heads_of(const MultiHead& o, int64_t d_model) {
  return {.count = o.maps(),
          .key_values = o.key_value_heads.value_or(o.heads),
          .d_k = o.d_k.value_or(d_model / o.heads),
          .d_v = o.d_v.value_or(d_model / o.heads)};
}

}  // namespace ablate::models
