#pragma once

#include <cstdint>

#include "models/kernel/simd.h"

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

/// Rows of logits that become the gradient of their summed label-smoothed cross-entropy, in place.
template <class T>
struct CrossEntropy {
  T* logits;               // [N, V] in, gradient out
  const int64_t* targets;  // [N]
  int64_t vocabulary;
  float smoothing, z;
  float* loss;  // [N] (1 - smoothing) nll + smoothing / V * sum of -log p + z log^2 sum of e^logit
  float* nll;   // [N] -log p(target)
};

void cross_entropy(int64_t begin, int64_t end, const CrossEntropy<float>& arguments);
void cross_entropy(int64_t begin, int64_t end, const CrossEntropy<Bfloat16>& arguments);

}  // namespace ablate::models::kernel
