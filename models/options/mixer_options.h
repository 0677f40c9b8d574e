#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "models/options/attention_options.h"
#include "models/options/latent_options.h"
#include "models/options/state_options.h"

namespace ablate::models {

// Every mixer states
//   is_sublayer     whether it adds to the residual stream
//   traits          see MixerTraits
//   can_forget()    whether all that decoding keeps are entries of single positions, so that its
//                   last ones can be dropped
//   clips_scores()  whether training.qk_clip can bound its scores
// and has `make`, which is defined with the module, in attention/ or mixers/.

struct NoAttention : MixerWithoutScores {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view about = "no sub-layer: positions do not exchange anything";
  static constexpr bool is_sublayer = false;
  static constexpr MixerTraits traits{.keeps_documents = true};
  static constexpr bool can_forget() { return true; }
  std::shared_ptr<Mixer> make(const StackOptions& stack) const;
};

/// From left to right if causal, otherwise in both directions with half the width each. cuDNN's
/// kernels for it are not known to allow a graph.
struct Lstm : MixerWithoutScores {
  static constexpr std::string_view name = "lstm";
  static constexpr std::string_view about =
      "a recurrent network instead of attention (Hochreiter & Schmidhuber 1997)";
  static constexpr MixerTraits traits{.capturable = false};
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

constexpr const MixerTraits& traits_of(const AttentionOptions& attention) {
  return std::visit([]<class Held>(const Held&) -> const MixerTraits& { return Held::traits; },
                    attention);
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

/// Whether the last positions of its cache can be dropped.
constexpr bool can_forget(const AttentionOptions& attention) {
  return std::visit([](const auto& held) { return held.can_forget(); }, attention);
}

/// Whether training.qk_clip can bound its scores.
constexpr bool clips_scores(const AttentionOptions& attention) {
  return std::visit([](const auto& held) { return held.clips_scores(); }, attention);
}

}  // namespace ablate::models
