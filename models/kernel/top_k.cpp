#include "models/kernel/top_k.h"

#include <algorithm>
#include <cmath>

#include "models/kernel/isa.h"
#include "models/kernel/simd.h"

namespace ablate::models::kernel {
namespace {

ABLATE_INLINE float sum_of_exponentials(const float* x, int64_t width, float highest) {
  float sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes)
#pragma omp simd
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += exponential(x[i + lane] - highest);
  float sum = 0;
  for (; i < width; ++i) sum += exponential(x[i] - highest);
  for (const float one : sums) sum += one;
  return sum;
}

/// Where the first block that holds a number above `bar` begins, from `from` on; or what is left
/// when no whole block is.
ABLATE_INLINE int64_t first_block_above(const float* x, int64_t from, int64_t width, float bar) {
  int64_t i = from;
  for (; i + kLanes <= width; i += kLanes) {
    int above = 0;
#pragma omp simd reduction(| : above)
    for (int64_t lane = 0; lane < kLanes; ++lane) above |= x[i + lane] > bar ? 1 : 0;
    if (above != 0) return i;
  }
  return i;
}

}  // namespace

float top_k(const float* scores, int64_t width, const TopK& top) {
  int64_t found = 0;
  const auto offer = [&](int64_t i) {
    if (found == top.count && !(scores[i] > top.value[found - 1])) return;
    int64_t place = found < top.count ? found++ : found - 1;
    for (; place > 0 && scores[i] > top.value[place - 1]; --place) {
      top.value[place] = top.value[place - 1];
      top.index[place] = top.index[place - 1];
    }
    top.value[place] = scores[i];
    top.index[place] = i;
  };
  int64_t i = 0;
  for (; i < std::min(width, top.count); ++i) offer(i);
  while (i < width) {
    i = on_widest<first_block_above>(scores, i, width, top.value[found - 1]);
    for (const int64_t end = std::min(width, i + kLanes); i < end; ++i) offer(i);
  }
  return top.value[0] + std::log(on_widest<sum_of_exponentials>(scores, width, top.value[0]));
}

void softmax_top_k(const float* scores, int64_t width, float* probability, const TopK& top) {
  const float highest = *std::max_element(scores, scores + width);
  float sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += probability[i] = exponential(scores[i] - highest);
  for (int64_t i = 0; i < width; ++i) probability[i] /= sum;
  for (int64_t k = 0; k < top.count; ++k) {
    int64_t best = -1;
    for (int64_t i = 0; i < width; ++i)
      if (std::find(top.index, top.index + k, i) == top.index + k &&
          (best < 0 || probability[i] > probability[best]))
        best = i;
    top.index[k] = best;
    top.value[k] = probability[best];
  }
}

}  // namespace ablate::models::kernel
