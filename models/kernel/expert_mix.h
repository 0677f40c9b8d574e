#pragma once

#include <cstdint>

#include "models/options/activation.h"

namespace ablate::models::kernel {

// N positions, k slots, E experts, F hidden width, D model width

/// The experts' weights, a neuron's in one row each way. Biases may be null.
struct ExpertWeights {
  const float* up;         // [E, F, D], gated [E, 2F, D]: first the gates
  const float* up_packed;  // the same as packed_product.h lays matrices out, or null; then F is a
                           // multiple of kPanel
  const float* up_bias;    // [E, F], gated [E, 2F]
  const float* down;       // [E, F, D]
  const float* down_bias;  // [E, D]
  int64_t experts, d_hidden, d_model;
  Activation activation;
  bool gated;
};

/// The experts of the positions. Slots with an expert of E or more are empty.
struct ExpertSlots {
  const int64_t* expert;  // [N, k]
  const float* weight;    // [N, k]
  int64_t slots;
};

/// Positions that are worked on together, so that input and output stay in the cache.
constexpr int64_t kMixBlock = 256;

/// output[n] = sum over slots of weight (down^T activation(up x[n] + up_bias) + down_bias), for n
/// in [begin, end), in the order of the experts; a position's numbers do not depend on the others.
/// d_model is a multiple of 16.
void mix_experts(const ExpertWeights& weights, const ExpertSlots& slots, const float* x,
                 float* output, int64_t begin, int64_t end);

}  // namespace ablate::models::kernel
