#include "models/kernel/cross_entropy.h"

#include <cmath>
#include <limits>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
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
    a.loss[row] = (1.0F - a.smoothing) * nll + a.smoothing * (normaliser - sum / count);
    const float inverse = 1.0F / total, spread = a.smoothing / count;
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
