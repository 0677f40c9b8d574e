#include "models/kernel/reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

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

/// The start of the first whole block from `from` on that holds a number above `bar`, or of the
/// remainder if there is none.
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

namespace {

template <class T>
ABLATE_INLINE void rows(int64_t begin, int64_t end, const CrossEntropy<T>& a) {
  const int64_t size = a.vocabulary;
  const auto count = static_cast<float>(size);
  for (int64_t row = begin; row < end; ++row) {
    T* logits = a.logits + row * size;
    float largest = -std::numeric_limits<float>::infinity();
    float sum = 0.0F;
#pragma omp simd reduction(max : largest) reduction(+ : sum)
    for (int64_t v = 0; v < size; ++v) {
      const float logit = load(logits[v]);
      largest = logit > largest ? logit : largest;
      sum += logit;
    }
    const int64_t target = a.targets[row];
    const float wanted = load(logits[target]);
    float total = 0.0F;
#pragma omp simd reduction(+ : total)
    for (int64_t v = 0; v < size; ++v) {
      const float share = exponential(load(logits[v]) - largest);
      total += share;
      store(logits[v], share);
    }
    const float normaliser = largest + std::log(total);
    const float nll = normaliser - wanted;
    a.nll[row] = nll;
    a.loss[row] = (1.0F - a.smoothing) * nll + a.smoothing * (normaliser - sum / count) +
                  a.z * normaliser * normaliser;
    const float inverse = (1.0F + 2.0F * a.z * normaliser) / total, spread = a.smoothing / count;
#pragma omp simd
    for (int64_t v = 0; v < size; ++v) store(logits[v], load(logits[v]) * inverse - spread);
    const float probability = exponential(wanted - largest) * inverse;
    store(logits[target], probability - spread - (1.0F - a.smoothing));
  }
}

}  // namespace

void cross_entropy(int64_t begin, int64_t end, const CrossEntropy<float>& a) {
  on_widest<rows<float>>(begin, end, a);
}
void cross_entropy(int64_t begin, int64_t end, const CrossEntropy<Bfloat16>& a) {
  on_widest<rows<Bfloat16>>(begin, end, a);
}

}  // namespace ablate::models::kernel
