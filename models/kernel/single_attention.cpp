#include "models/kernel/single_attention.h"

#include <cmath>
#include <limits>
#include <vector>

namespace ablate::models::kernel {
namespace {

constexpr float kNever = -std::numeric_limits<float>::max();

ABLATE_INLINE float dot(const float* a, const float* b, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Scores to probabilities in place; all zero where nothing may be attended to.
ABLATE_INLINE void softmax(float* scores, int64_t count) {
  float highest = kNever, sum = 0;
#pragma omp simd reduction(max : highest)
  for (int64_t s = 0; s < count; ++s) highest = scores[s] > highest ? scores[s] : highest;
#pragma omp simd reduction(+ : sum)
  for (int64_t s = 0; s < count; ++s) {
    scores[s] = exponential(scores[s] - highest);
    sum += scores[s];
  }
  const float inverse = highest == kNever ? 0.0F : 1.0F / sum;
#pragma omp simd
  for (int64_t s = 0; s < count; ++s) scores[s] *= inverse;
}

ABLATE_CLONES void attend_one(const SingleAttention& a, int64_t row, int64_t head, float* scores) {
  const float* query = a.query.data + row * a.query.row + head * a.query.head;
  const float* key = a.key.data + row * a.key.row + head * a.key.head;
  const float* value = a.value.data + row * a.value.row + head * a.value.head;
  float* output = a.output + (row * a.heads + head) * a.d_v;
  const float scale = 1.0F / std::sqrt(static_cast<float>(a.d_k));
  for (int64_t s = 0; s < a.keys; ++s) {
    scores[s] = dot(query, key + s * a.key.position, a.d_k) * scale;
    if (a.bias != nullptr) scores[s] += a.bias[head * a.keys + s];
    if (a.real != nullptr && !a.real[row * a.keys + s]) scores[s] = kNever;
  }
  softmax(scores, a.keys);
  for (int64_t w = 0; w < a.d_v; ++w) output[w] = 0;
  for (int64_t s = 0; s < a.keys; ++s) {
    const float share = scores[s];
    const float* from = value + s * a.value.position;
#pragma omp simd
    for (int64_t w = 0; w < a.d_v; ++w) output[w] += share * from[w];
  }
}

}  // namespace

void attend(const SingleAttention& attention, int64_t begin, int64_t end) {
  std::vector<float> scores(static_cast<size_t>(attention.keys));
  for (int64_t item = begin; item < end; ++item)
    attend_one(attention, item / attention.heads, item % attention.heads, scores.data());
}

}  // namespace ablate::models::kernel
