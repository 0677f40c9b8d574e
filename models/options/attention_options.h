#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "models/options/option_traits.h"
#include "models/options/state_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

class Mixer;
struct StackOptions;

// Every mixer states
//   is_sublayer      whether it adds to the residual stream
//   has_scores       whether position schemes have scores to act on
//   lends_scores     whether a position scheme can compute its scores
//   has_projections  whether queries, keys and values of the model's input stand side by side
//   causal_only      whether it can only read from left to right
//   keeps_documents  whether no position reads anything of another document
//   capturable       whether a pass with it can be recorded as a CUDA graph
//   can_forget()     whether all that decoding keeps are entries of single positions, so that its
//                    last ones can be dropped
//   clips_scores()   whether training.qk_clip can bound its scores
// and has `make`, which is defined with the module: in attention/, mixer.cpp, linear_attention.cpp
// or mamba2.cpp.

/// Traits of mixers without scores whose state or window reads on across documents.
struct MixerWithoutScores : EmptyOptions {
  static constexpr bool is_sublayer = true, has_scores = false, has_projections = false;
  static constexpr bool lends_scores = false;
  static constexpr bool causal_only = false, keeps_documents = false, capturable = true;
  static constexpr bool can_forget() { return false; }
  static constexpr bool clips_scores() { return false; }
};

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

inline constexpr auto kWeightDropoutHelp =
    "dropout probability of attention weights in training (attn_pdrop, attention_dropout); the "
    "others are divided by the share that is kept, without another softmax";

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

ABLATE_ENUM(ScoreFunction, softmax, softmax_one, sigmoid, relu2);
constexpr auto abouts(ScoreFunction) {
  return std::to_array<std::string_view>(
      {"the softmax over the keys that a query sees (Vaswani et al. 2017, arXiv 1706.03762)",
       "a softmax with 1 more in the denominator, so that a query may look at nothing (Miller "
       "2023)",
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
  static constexpr bool is_sublayer = true, has_scores = true, has_projections = true;
  static constexpr bool lends_scores = true;
  static constexpr bool causal_only = false, keeps_documents = true, capturable = true;
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
  bool value_embedding = false, exclusive = false, differential = false, forgetting = false;
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

  /// Attention maps: one for every query of a head.
  constexpr int64_t maps() const { return differential ? 2 * heads : heads; }

  /// Whether heads of a model this wide have whole widths.
  constexpr bool divides(int64_t d_model) const {
    return heads < 1 || d_model % heads == 0 || (d_k && d_v);
  }
};

/// Section 2.1: the normed vector is all that decoding keeps of a position, beside a part of its
/// key that all heads share, the only one that rotary positions turn. Queries have a part for it,
/// too, and may be of low rank themselves.
struct Latent {
  static constexpr std::string_view name = "latent";
  static constexpr std::string_view about =
      "multi-head latent attention, whose keys and values are products of one vector of low rank "
      "(DeepSeek-AI 2024, arXiv 2405.04434)";
  static constexpr bool is_sublayer = true, has_scores = true, has_projections = false;
  static constexpr bool lends_scores = false;
  static constexpr bool causal_only = false, keeps_documents = true, capturable = true;
  static constexpr bool can_forget() { return true; }
  static constexpr bool clips_scores() { return true; }
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t heads = 8;
  std::optional<int64_t> rank, query_rank;
  std::optional<int64_t> d_k, shared_d_k, d_v;
  double dropout = 0.0;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "attention heads", options::from(1, 1024));
    visit("rank", o.rank,
          "width of the vector that keys and values are made of (kv_lora_rank); absent: half of "
          "d_model");
    visit("query_rank", o.query_rank,
          "width of the vector that queries are made of (q_lora_rank); absent: queries are made of "
          "the input");
    visit("d_k", o.d_k,
          "width of the part of queries and keys that each head has for itself "
          "(qk_nope_head_dim); absent: d_model / heads");
    visit("shared_d_k", o.shared_d_k,
          "width of the part of keys that all heads share, which rotary positions turn "
          "(qk_rope_head_dim); absent: half of d_k");
    visit("d_v", o.d_v, "width of a value (v_head_dim); absent: d_model / heads");
    visit("dropout", o.dropout, kWeightDropoutHelp, options::from_below(0, 1));
  }
  static void rules(const Latent& o, auto&& require) {
    const auto width = [&](const std::optional<int64_t>& value, const char* key) {
      require(!value || (*value >= 1 && *value <= 65'536), key, "must be from 1 to 65536");
    };
    width(o.rank, "rank");
    width(o.query_rank, "query_rank");
    width(o.d_k, "d_k");
    width(o.shared_d_k, "shared_d_k");
    width(o.d_v, "d_v");
  }
};

/// Widths of a latent attention.
struct LatentWidths {
  int64_t heads, rank;
  int64_t d_k, shared, d_v;  // of a key's own and shared parts, and of a value
};

constexpr LatentWidths widths_of(const Latent& o, int64_t d_model) {
  const int64_t d_k = o.d_k.value_or(d_model / o.heads);
  return {.heads = o.heads,
          .rank = o.rank.value_or(std::max<int64_t>(1, d_model / 2)),
          .d_k = d_k,
          .shared = o.shared_d_k.value_or(std::max<int64_t>(1, d_k / 2)),
          .d_v = o.d_v.value_or(d_model / o.heads)};
}

struct NoAttention : MixerWithoutScores {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "no sub-layer: positions do not exchange anything";
  static constexpr bool is_sublayer = false, keeps_documents = true;
  static constexpr bool can_forget() { return true; }
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// From left to right if causal, otherwise in both directions with half the width each. cuDNN's
/// kernels for it are not known to allow a graph.
struct Lstm : MixerWithoutScores {
  static constexpr std::string_view name = "lstm";
  static constexpr std::string_view about =
      "a recurrent network instead of attention (Hochreiter & Schmidhuber 1997)";
  static constexpr bool capturable = false;
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// Section 3.2, over the last `width` positions if causal, otherwise centred.
struct Convolution : MixerWithoutScores {
  static constexpr std::string_view name = "convolution";
  static constexpr std::string_view about =
      "a gated convolution over a few positions instead of attention (Gehring et al. 2017, arXiv "
      "1705.03122)";
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t width = 3;

  static void fields(auto& o, auto&& visit) {
    visit("width", o.width, "width of the kernel, in positions; odd");
  }
  static void rules(const Convolution& o, auto&& require) {
    require(o.width >= 1 && o.width <= 255 && o.width % 2 == 1, "width",
            "must be odd and from 1 to 255");
  }
};

/// Without that paper's feed-forward and gates.
struct Average : MixerWithoutScores {
  static constexpr std::string_view name = "average";
  static constexpr std::string_view about =
      "the mean of all values, or of those so far, instead of attention (Zhang et al. 2018, arXiv "
      "1805.00631)";
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// A mixer of the positions within one sequence.
using AttentionOptions = std::variant<MultiHead, Latent, NoAttention, Lstm, Convolution, Average,
                                      LinearAttention, DeltaRule, Mamba2>;

/// Whether the attention has scores for a position scheme to act on.
constexpr bool has_scores(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) { return Held::has_scores; }, attention);
}

constexpr bool lends_scores(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) { return Held::lends_scores; }, attention);
}

/// The heads whose scores position schemes act on. Of latent attention they are as wide as the
/// shared part of keys, which alone schemes may turn.
constexpr std::optional<MultiHead> heads_for_positions(const AttentionOptions& attention,
                                                       int64_t d_model) {
  if (const auto* heads = std::get_if<MultiHead>(&attention)) return *heads;
  const auto* latent = std::get_if<Latent>(&attention);
  if (latent == nullptr || latent->heads < 1) return {};
  const auto widths = widths_of(*latent, d_model);
  return MultiHead{.heads = widths.heads, .d_k = widths.shared, .d_v = widths.d_v};
}

/// Whether a mixer has queries, keys and values of the model's input, side by side.
constexpr bool has_projections(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) { return Held::has_projections; }, attention);
}

/// The number of a mixer's heads; 0 if it has no heads.
constexpr int64_t head_count(const AttentionOptions& attention) {
  return std::visit(
      []<class Held>(const Held& held) -> int64_t {
        if constexpr (requires { held.heads; })
          return held.heads;
        else
          return 0;
      },
      attention);
}

/// Whether a pass with it can be recorded as a CUDA graph.
constexpr bool can_capture(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) { return Held::capturable; }, attention);
}

/// Whether no position reads anything of another document.
constexpr bool keeps_documents(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) { return Held::keeps_documents; }, attention);
}

/// Whether the last positions of its cache can be dropped.
constexpr bool can_forget(const AttentionOptions& attention) {
  return std::visit([](const auto& held) { return held.can_forget(); }, attention);
}

/// Whether training.qk_clip can bound its scores.
constexpr bool clips_scores(const AttentionOptions& attention) {
  return std::visit([](const auto& held) { return held.clips_scores(); }, attention);
}

}  // namespace ablate::models
