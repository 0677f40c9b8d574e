#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "models/options/attention_options.h"
#include "options/bounds.h"
#include "options/enumeration.h"

namespace ablate::models {

/// How fast a mixer with a matrix state forgets.
ABLATE_ENUM(Forgetting, none, fixed, gated, channels);
constexpr auto abouts(Forgetting) {
  return std::to_array<std::string_view>(
      {"nothing is forgotten (linear Transformer, DeltaNet)",
       "each head forgets at its own rate, in an encoder in both directions (Sun et al. 2023, "
       "RetNet, arXiv 2307.08621)",
       "the input decides how much each head forgets (Sun et al. 2024, gated retention; Yang et "
       "al. 2025, Gated DeltaNet, arXiv 2412.06464)",
       "the input decides how much each channel of the keys forgets (Yang et al. 2023, arXiv "
       "2312.06635; Kimi Team 2025, arXiv 2510.26692)"});
}

/// Positions that a causal mixer with a matrix state reads at once: few if every channel decays by
/// itself, for which each pair of positions takes a number for every channel.
constexpr int64_t chunk_length(Forgetting decay) {
  return decay == Forgetting::channels ? 16 : 128;
}

/// Members of the mixers that keep a matrix for each head instead of keys and values.
struct MatrixState : MixerWithoutScores {
  static constexpr MixerTraits traits{.has_projections = true};
  int64_t heads = 8;
  Forgetting decay = Forgetting::none;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "heads, each with its own state; must divide d_model",
          options::from(1, 1024));
    visit("decay", o.decay, "how fast a head forgets; gated and channels only in decoders");
  }
};

/// Without decay it is that paper's: elu(x) + 1 of queries and keys, divided by the sum of the
/// weights. With fixed decay, head h forgets the share 2^(-5-h) at each position, as in retention
/// (Sun et al. 2023). With gated decay, the input decides at each position how much a head keeps,
/// as in the gated retention of Sun et al. 2024, and by channels each channel of a key keeps its
/// own share, as in the gated linear attention of Yang et al. 2023. Outputs are divided by the
/// absolute sum of the weights if it is above 1, as in mLSTM (Beck et al. 2024) and instead of
/// retention's group norm, and multiplied by silu of a projection of the input, as in retention.
/// Neither is a RetNet, which normalises every head and rotates queries and keys.
struct LinearAttention : MatrixState {
  static constexpr std::string_view name = "linear";
  static constexpr std::string_view about =
      "attention without softmax, whose sum over the past is a matrix of fixed size (Katharopoulos "
      "et al. 2020, arXiv 2006.16236)";
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// Keys and queries have length 1, without that model's short convolutions and norm. With a decay a
/// part of the state is forgotten before each position: gated, it is the gated delta rule (Yang et
/// al. 2025, arXiv 2412.06464), by channels that of Kimi Delta Attention (arXiv 2510.26692). With
/// an output gate, the output of every head is normed and multiplied by silu of a projection of the
/// input, as in both. It reads from left to right, so only decoders can have it. Its solver is not
/// known to allow a graph.
struct DeltaRule : MatrixState {
  static constexpr std::string_view name = "delta";
  static constexpr std::string_view about =
      "linear attention that replaces the value stored under a key instead of adding to it (Schlag "
      "et al. 2021; Yang et al. 2024, arXiv 2406.06484)";
  static constexpr MixerTraits traits{
      .has_projections = true, .causal_only = true, .capturable = false};
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t expand = 1;
  bool silu = false, output_gate = false;

  static void fields(auto& o, auto&& visit) {
    MatrixState::fields(o, visit);
    visit("expand", o.expand,
          "width of all values together, as a multiple of d_model (Gated DeltaNet: 2)",
          options::from(1, 64));
    visit("silu", o.silu, "silu of queries, keys and values, behind their convolution if any");
    visit("output_gate", o.output_gate,
          "a norm of every head's output, times silu of a projection of the input");
  }
  int64_t value_width(int64_t d_model) const { return expand * d_model; }
};

/// Section 7.1, with one group of keys and queries for all heads and a convolution without bias.
/// With s = softplus(W x + b) of a position and a head, the head's state keeps exp(-s e^a) of
/// itself and gets s k v^T; its output is that of the query plus d v, gated by silu and normed. It
/// reads from left to right, so only decoders can have it.
struct Mamba2 : MixerWithoutScores {
  static constexpr std::string_view name = "mamba2";
  static constexpr std::string_view about =
      "a matrix state whose steps and decay the input decides, with gated and normed outputs (Dao "
      "& "
      "Gu 2024, arXiv 2405.21060)";
  static constexpr MixerTraits traits{.causal_only = true};
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;

  int64_t heads = 8;
  int64_t state_size = 64;
  int64_t expand = 2;

  static void fields(auto& o, auto&& visit) {
    visit("heads", o.heads, "heads, each with its own state; must divide expand times d_model",
          options::from(1, 1024));
    visit("state_size", o.state_size, "width of queries and keys, which all heads share",
          options::from(1, 65'536));
    visit("expand", o.expand, "width of all values together, as a multiple of d_model",
          options::from(1, 64));
  }

  static constexpr int64_t width = 4;  // of the convolution
  int64_t value_width(int64_t d_model) const { return expand * d_model; }
  int64_t convolved_width(int64_t d_model) const { return value_width(d_model) + 2 * state_size; }
};

}  // namespace ablate::models
