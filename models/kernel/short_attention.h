#pragma once

#include "models/kernel/simd.h"
#include "models/random.h"

namespace ablate::models::kernel {

// B batch, H heads, T queries, S keys, K head width of queries and keys, W head width of values

/// One attention problem over packed projections: head h of row t starts `h * width` elements after
/// `pointer + t * stride`.
struct AttentionShape {
  int64_t heads;
  int64_t queries;
  int64_t keys;
  int64_t d_k;
  int64_t d_v;
  bool causal;
};

/// A [B, rows, stride] array, from the column of its first head on.
template <class T>
struct Packed {
  T* pointer;
  int64_t stride;
};

/// Angles of a self-attention's positions. No pairs: no rotation.
struct RotaryTable {
  int64_t pairs;        // R
  bool interleaved;     // dimensions 2i and 2i+1 are a pair; otherwise i and i + R
  const float* cosine;  // [T, R]
  const float* sine;    // [T, R]
};

/// Inputs of scaled dot-product attention (Vaswani et al. 2017, equation 1).
template <class T>
struct AttentionInput {
  Packed<const T> query, key, value;
  const bool* padding_mask;  // [B, S]: true: a key may be attended to; null: all may
  const float* bias;         // [H, T, padded(S)]: added to the scaled scores; null: no bias
  RotaryTable rotary;
};

/// Rows of `probabilities` hold `padded(S)` numbers.
constexpr int64_t padded(int64_t length) { return (length + 15) / 16 * 16; }

/// Runs items [begin, end) of B * H. `probabilities` [B, H, T, padded(S)], before dropout, is
/// written for the gradient. The output of a query that may attend to no key is zero.
template <class T>
struct Attention {
  AttentionShape shape;
  AttentionInput<T> input;
  Packed<T> output;  // [B, T, H * W]
  float* probabilities;
  DropoutMask dropout;  // of rows B * H * T of S weights; threshold 0: none
};

template <class T>
struct AttentionGradient {
  AttentionShape shape;
  AttentionInput<T> input;
  Packed<const T> output_gradient;
  const float* probabilities;
  Packed<T> query_gradient, key_gradient, value_gradient;
  float* bias_gradient;  // [H, T, padded(S)]: added to; null: not wanted
  DropoutMask dropout;
};

void attention(int64_t begin, int64_t end, const Attention<float>& arguments);
void attention(int64_t begin, int64_t end, const Attention<Bfloat16>& arguments);
void attention_gradient(int64_t begin, int64_t end, const AttentionGradient<float>& arguments);
void attention_gradient(int64_t begin, int64_t end, const AttentionGradient<Bfloat16>& arguments);

}  // namespace ablate::models::kernel
