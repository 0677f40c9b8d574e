#pragma once

#include <variant>

namespace ablate::models {

/// Base of options without keys; a derived class may define them.
struct EmptyOptions {
  static void fields(auto&, auto&&) {}
};

/// How a mixer of positions goes together with other parts.
struct MixerTraits {
  bool has_scores = false;       // position schemes have scores to act on
  bool lends_scores = false;     // a position scheme can compute its scores
  bool has_projections = false;  // queries, keys and values of its input stand side by side
  bool causal_only = false;      // it can only read from left to right
  bool keeps_documents = false;  // no position reads anything of another document
  bool capturable = true;        // a pass with it can be recorded as a CUDA graph
};

/// The base of mixers without scores whose state or window reads on across documents.
struct MixerWithoutScores : EmptyOptions {
  static constexpr bool is_sublayer = true;
  static constexpr MixerTraits traits{};
  static constexpr bool can_forget() { return false; }
  static constexpr bool clips_scores() { return false; }
};

/// Whether a choice is a sub-layer, which adds to the residual stream, or nothing in its place.
template <class... Options>
constexpr bool is_sublayer(const std::variant<Options...>& choice) {
  return std::visit([]<class Held>(const Held&) { return Held::is_sublayer; }, choice);
}

}  // namespace ablate::models
