#pragma once

#include <cstdint>

namespace ablate::models::kernel {

/// Room for the `count` largest of a row, best first; of equals the first comes first.
struct TopK {
  float* value;
  int64_t* index;
  int64_t count;
};

/// Fills `top` from a row of scores; the logarithm of the sum of all exponentials.
/// REQUIRES: 1 <= count <= width.
float top_k(const float* scores, int64_t width, const TopK& top);

/// Writes the row's softmax, of which `top` is filled. REQUIRES: 1 <= count <= width.
void softmax_top_k(const float* scores, int64_t width, float* probability, const TopK& top);

}  // namespace ablate::models::kernel
