#include "models/kernel/single_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/kernel/isa.h"
#include "models/kernel/simd.h"

namespace ablate::models::kernel {
namespace {

constexpr float kNever = -std::numeric_limits<float>::max();
/// Keys prefetched ahead of their use: positions are too far apart for the hardware prefetcher.
constexpr int64_t kPrefetchKeys = 4;

ABLATE_INLINE float dot(const float* a, const float* b, int64_t count) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Turns scores into probabilities in place; all zero if every key is masked.
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

/// The buffers of one query: the address of each position, and its score.
struct Workspace {
  explicit Workspace(int64_t keys)
      : key(static_cast<size_t>(keys + kPrefetchKeys)), value(key.size()), scores(key.size()) {}

  std::vector<const float*> key, value;
  std::vector<float> scores;
};

/// Sets the addresses of a row's keys and values; those after the last repeat it.
ABLATE_INLINE void find(const SingleAttention& a, int64_t row, int64_t head, Workspace& space) {
  const float** key = space.key.data();
  const float** value = space.value.data();
  const auto count = static_cast<int64_t>(a.blocks.size());
  for (int64_t b = 0; b < count; ++b) {
    const auto& block = a.blocks[static_cast<size_t>(b)];
    const int64_t from = a.rows == nullptr ? row : a.rows[row * count + b], group = head / a.group;
    const float* first_key = block.key.data + from * block.key.row + group * block.key.head;
    const float* first_value = block.value.data + from * block.value.row + group * block.value.head;
    for (int64_t i = 0; i < block.positions; ++i) {
      *key++ = first_key + i * block.key.position;
      *value++ = first_value + i * block.value.position;
    }
  }
  std::fill_n(key, kPrefetchKeys, a.keys > 0 ? key[-1] : nullptr);
}

ABLATE_INLINE void attend_one(const SingleAttention& a, int64_t row, int64_t head,
                              Workspace& space) {
  find(a, row, head, space);
  const float* query = a.query.data + row * a.query.row + head * a.query.head;
  const bool* mask = a.padding_mask;
  if (mask != nullptr) mask += (a.rows == nullptr ? row : a.rows[row]) * a.keys;
  float* scores = space.scores.data();
  float* output = a.output + (row * a.heads + head) * a.d_v;
  const float scale = 1.0F / std::sqrt(static_cast<float>(a.d_k));
  for (int64_t s = 0; s < a.keys; ++s) {
    const auto at = static_cast<size_t>(s);
    prefetch<3>(space.key[at + kPrefetchKeys], a.d_k);
    prefetch<3>(space.value[at], a.d_v);
    scores[s] = dot(query, space.key[at], a.d_k) * scale;
    if (a.bias != nullptr) scores[s] += a.bias[head * a.keys + s];
    if (mask != nullptr && !mask[s]) scores[s] = kNever;
  }
  softmax(scores, a.keys);
  for (int64_t w = 0; w < a.d_v; ++w) output[w] = 0;
  for (int64_t s = 0; s < a.keys; ++s) {
    const float share = scores[s];
    const float* from = space.value[static_cast<size_t>(s)];
#pragma omp simd
    for (int64_t w = 0; w < a.d_v; ++w) output[w] += share * from[w];
  }
}

ABLATE_INLINE void attend_items(const SingleAttention& a, int64_t begin, int64_t end) {
  Workspace space(a.keys);
  for (int64_t item = begin; item < end; ++item)
    attend_one(a, item / a.heads, item % a.heads, space);
}

}  // namespace

void attend(const SingleAttention& attention, int64_t begin, int64_t end) {
  on_widest<attend_items>(attention, begin, end);
}

}  // namespace ablate::models::kernel
