#pragma once

#include <cmath>
#include <cstdint>

namespace ablate::models {

/// What a scheme must know of the stack that it serves.
struct PositionContext {
  int64_t d_model, heads, d_k, d_v, layers;
  bool causal;                // a decoder's stack, whose keys never lie behind the query
  int64_t id_range = 0;       // position ids are any below it; 0: they follow on each other
  int64_t base_width = 0;     // of a parametrization by width; 0: d_model
  double head_narrowing = 1;  // base width over d_model where d_k follows it, otherwise 1

  /// Of the first values of a table that is trained as embeddings are.
  double embedding_deviation() const {
    return 1.0 / std::sqrt(static_cast<double>(base_width == 0 ? d_model : base_width));
  }
};

}  // namespace ablate::models
