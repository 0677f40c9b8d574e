#pragma once

#include <array>
#include <string_view>

namespace ablate::models {

/// How far a scheme goes in one family; in an encoder_only model nothing is ever cached.
enum class Support { traced, cached_and_traced };

/// Where a position scheme works. tests/models/compatibility_test.cpp measures every cell. No
/// scheme acts on cross-attention.
struct Compatibility {
  std::string_view scheme;  // its kind
  std::string_view acts_on;
  bool bidirectional;  // tells orders apart in an encoder's stack
  bool causal;         // in a decoder's stack, without seeing later positions
  // cached: a step with the key/value cache gives what the whole sequence gives; traced: an
  // exported trace runs at other lengths
  Support encoder_decoder, decoder_only, encoder_only;
  bool shift;               // an encoder's output does not change when the whole source is shifted
  std::string_view beyond;  // lengths beyond training
};

constexpr Compatibility everywhere(std::string_view scheme, std::string_view acts_on,
                                   std::string_view beyond) {
  return {.scheme = scheme,
          .acts_on = acts_on,
          .bidirectional = true,
          .causal = true,
          .encoder_decoder = Support::cached_and_traced,
          .decoder_only = Support::cached_and_traced,
          .encoder_only = Support::traced,
          .shift = true,
          .beyond = beyond};
}

constexpr Compatibility without_order(Compatibility row) {
  row.bidirectional = false;
  return row;
}

constexpr Compatibility absolute(Compatibility row) {
  row.shift = false;
  return row;
}

inline constexpr auto kCompatibility = std::to_array<Compatibility>({
    without_order(everywhere("none", "nothing", "runs")),
    absolute(everywhere("sinusoidal", "embeddings", "runs")),
    absolute(everywhere("learned", "embeddings", "error, clamp or, in encoders, interpolate")),
    everywhere("rotary", "queries and keys", "runs; scaling"),
    everywhere("alibi", "scores", "runs"),
    everywhere("t5", "scores", "last bucket"),
    everywhere("shaw", "scores and values", "last vector"),
    everywhere("fire", "scores", "runs"),
    everywhere("transformer_xl", "scores", "runs"),
    everywhere("kerple", "scores", "runs"),
    everywhere("sandwich", "scores", "runs"),
    everywhere("cope", "scores", "last vector"),
});

}  // namespace ablate::models
