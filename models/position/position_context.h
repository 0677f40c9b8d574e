#pragma once

#include <cstdint>

namespace ablate::models {

/// What a scheme must know of the stack that it serves.
struct PositionContext {
  int64_t d_model, heads, d_k, d_v, layers;
  bool causal;  // a decoder's stack, whose keys never lie behind the query
  int64_t id_range = 0;  // position ids are any below it; 0: they follow on each other
};

}  // namespace ablate::models
