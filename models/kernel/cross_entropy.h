#pragma once

#include "models/kernel/simd.h"

namespace ablate::models::kernel {

/// Rows of logits that become the gradient of their summed label-smoothed cross-entropy, in place.
template <class T>
struct CrossEntropy {
  T* logits;               // [N, V] in, gradient out
  const int64_t* targets;  // [N]
  int64_t vocabulary;
  float smoothing;
  float* loss;  // [N] (1 - smoothing) nll + smoothing / V * sum over V of -log p
  float* nll;   // [N] -log p(target)
};

void cross_entropy(int64_t begin, int64_t end, const CrossEntropy<float>& arguments);
void cross_entropy(int64_t begin, int64_t end, const CrossEntropy<Bfloat16>& arguments);

}  // namespace ablate::models::kernel
