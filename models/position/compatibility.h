#pragma once

#include <array>
#include <string_view>

namespace ablate::models {

/// Where a position scheme works. tests/models/compatibility_test.cpp measures every cell. No
/// scheme acts on cross-attention.
struct Compatibility {
  std::string_view scheme;  // its kind
  std::string_view acts_on;
  bool encoder;             // tells orders apart in a bidirectional stack
  bool decoder;             // in a causal stack, without seeing later positions
  bool cached;              // a step with the key/value cache gives what the whole sequence gives
  bool traced;              // an exported trace runs at other lengths
  bool shift;               // an encoder's output does not change when the whole source is shifted
  std::string_view beyond;  // lengths beyond training
};

inline constexpr auto kCompatibility = std::to_array<Compatibility>({
    {"none", "nothing", false, true, true, true, true, "runs"},
    {"sinusoidal", "embeddings", true, true, true, true, false, "runs"},
    {"learned", "embeddings", true, true, true, true, false, "error, or clamp"},
    {"rotary", "queries and keys", true, true, true, true, true, "runs; scaling"},
    {"alibi", "scores", true, true, true, true, true, "runs"},
    {"t5", "scores", true, true, true, true, true, "last bucket"},
    {"shaw", "scores and values", true, true, true, true, true, "last vector"},
    {"fire", "scores", true, true, true, true, true, "runs"},
    {"transformer_xl", "scores", true, true, true, true, true, "runs"},
    {"kerple", "scores", true, true, true, true, true, "runs"},
    {"sandwich", "scores", true, true, true, true, true, "runs"},
    {"cope", "scores", true, true, true, true, true, "last vector"},
});

}  // namespace ablate::models
