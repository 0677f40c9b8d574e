#include "models/kernel/expert_mix.h"

#include <algorithm>
#include <vector>

namespace ablate::models::kernel {
namespace {

using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
using Integers = int32_t __attribute__((vector_size(64)));
constexpr int kLanes = 16;
constexpr int64_t kNeurons = 32;  // of an expert at a time: their weights stay in the cache

ABLATE_INLINE const Lanes& lanes(const float* x) { return *reinterpret_cast<const Lanes*>(x); }
ABLATE_INLINE Lanes& lanes(float* x) { return *reinterpret_cast<Lanes*>(x); }

/// Adds the lanes that differ in bit `Size`; a's sums stand where the bit is clear, b's where set.
template <int Size>
ABLATE_INLINE void fold(Lanes& a, const Lanes& b) {
  Integers same, other;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int from = (lane & Size) != 0 ? kLanes : 0;
    same[lane] = from + lane;
    other[lane] = from + (lane ^ Size);
  }
  a = __builtin_shuffle(a, b, same) + __builtin_shuffle(a, b, other);
}

/// Lane i of x[0] becomes the sum of all lanes of x[i]; every sum is taken in the same order.
ABLATE_INLINE void sum_each(Lanes (&x)[kLanes]) {
  for (int i = 0; i < 8; ++i) fold<8>(x[i], x[i + 8]);
  for (int i = 0; i < 4; ++i) fold<4>(x[i], x[i + 4]);
  for (int i = 0; i < 2; ++i) fold<2>(x[i], x[i + 2]);
  fold<1>(x[0], x[1]);
}

/// Error function (Abramowitz and Stegun 1964, 7.1.26), within 2e-7.
ABLATE_INLINE float error_function(float x) {
  const float size = x < 0 ? -x : x;
  const float t = 1.0F / (1.0F + 0.3275911F * size);
  const float sum =
      t * (0.254829592F +
           t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  const float value = 1.0F - sum * exponential(-size * size);
  return x < 0 ? -value : value;
}

ABLATE_INLINE float curved(Curve curve, float x) {
  if (curve == Curve::relu) return x > 0 ? x : 0.0F;
  if (curve == Curve::silu) return x / (1.0F + exponential(-x));
  return 0.5F * x * (1.0F + error_function(x * 0.70710678F));
}

/// Positions of one expert and their weights.
struct Rows {
  const int64_t* position;
  const float* weight;
  int64_t count = 0;
};

/// to[r][n] = up[first + n] . x[position r] + bias, for `neurons` rows of `up`.
template <int R>
ABLATE_INLINE void products(const float* x, const Rows& rows, const float* up, const float* bias,
                            int64_t neurons, int64_t d_model, float (*to)[kNeurons]) {
  constexpr int kColumns = kLanes / R;
  const float* from[R];
  for (int r = 0; r < R; ++r) from[r] = x + rows.position[r] * d_model;
  for (int64_t n = 0; n < neurons; n += kColumns) {
    const float* weights[kColumns];
    for (int64_t j = 0; j < kColumns; ++j)
      weights[j] = up + (n + j < neurons ? n + j : n) * d_model;
    Lanes sums[kLanes] = {};
    for (int64_t d = 0; d < d_model; d += kLanes)
      for (int r = 0; r < R; ++r)
        for (int j = 0; j < kColumns; ++j)
          sums[r * kColumns + j] += lanes(from[r] + d) * lanes(weights[j] + d);
    sum_each(sums);
    for (int r = 0; r < R; ++r)
      for (int j = 0; j < kColumns && n + j < neurons; ++j)
        to[r][n + j] = sums[0][r * kColumns + j] + (bias == nullptr ? 0.0F : bias[n + j]);
  }
}

/// output[position r] += sum over n of hidden[r][n] down[n].
template <int R>
ABLATE_INLINE void add_outputs(const float (*hidden)[kNeurons], const Rows& rows, const float* down,
                               int64_t neurons, int64_t d_model, float* output) {
  for (int64_t d = 0; d < d_model; d += kLanes) {
    Lanes sums[R] = {};
    for (int64_t n = 0; n < neurons; ++n) {
      const Lanes weight = lanes(down + n * d_model + d);
      for (int r = 0; r < R; ++r) sums[r] += hidden[r][n] * weight;
    }
    for (int r = 0; r < R; ++r) lanes(output + rows.position[r] * d_model + d) += sums[r];
  }
}

/// What one expert's neurons from number `first` on, at most kNeurons, add to R positions.
template <int R>
ABLATE_INLINE void mix_tile(const ExpertWeights& w, int64_t expert, int64_t first, const Rows& rows,
                            const float* x, float* output) {
  const int64_t neurons = std::min(kNeurons, w.d_hidden - first);
  const int64_t wide = w.gated ? 2 * w.d_hidden : w.d_hidden;
  const float* up = w.up + (expert * wide + first) * w.d_model;
  const float* bias = w.up_bias == nullptr ? nullptr : w.up_bias + expert * wide + first;
  alignas(64) float hidden[R][kNeurons], factor[R][kNeurons];
  products<R>(x, rows, up, bias, neurons, w.d_model, hidden);
  if (w.gated)
    products<R>(x, rows, up + w.d_hidden * w.d_model, bias == nullptr ? nullptr : bias + w.d_hidden,
                neurons, w.d_model, factor);
  for (int r = 0; r < R; ++r)
    for (int64_t n = 0; n < neurons; ++n) {
      const float value = curved(w.curve, hidden[r][n]) * rows.weight[r];
      hidden[r][n] = w.gated ? value * factor[r][n] : value;
    }
  add_outputs<R>(hidden, rows, w.down + (expert * w.d_hidden + first) * w.d_model, neurons,
                 w.d_model, output);
}

ABLATE_CLONES void mix_expert(const ExpertWeights& w, int64_t expert, const Rows& rows,
                              const float* x, float* output) {
  if (w.down_bias != nullptr)
    for (int64_t r = 0; r < rows.count; ++r)
      for (int64_t d = 0; d < w.d_model; ++d)
        output[rows.position[r] * w.d_model + d] +=
            rows.weight[r] * w.down_bias[expert * w.d_model + d];
  for (int64_t first = 0; first < w.d_hidden; first += kNeurons) {
    int64_t r = 0;
    const auto next = [&] { return Rows{rows.position + r, rows.weight + r}; };
    for (; r + 4 <= rows.count; r += 4) mix_tile<4>(w, expert, first, next(), x, output);
    for (; r + 2 <= rows.count; r += 2) mix_tile<2>(w, expert, first, next(), x, output);
    for (; r < rows.count; ++r) mix_tile<1>(w, expert, first, next(), x, output);
  }
}

}  // namespace

void mix_experts(const ExpertWeights& weights, const ExpertSlots& slots, const float* x,
                 float* output, int64_t begin, int64_t end) {
  std::vector<int64_t> start(static_cast<size_t>(weights.experts) + 1);
  std::vector<int64_t> position(static_cast<size_t>(slots.slots * kMixBlock));
  std::vector<float> weight(position.size());
  const auto each = [&](int64_t from, int64_t to, auto&& visit) {
    for (int64_t s = 0; s < slots.slots; ++s)
      for (int64_t n = from; n < to; ++n) {
        const int64_t expert = slots.expert[s * slots.positions + n];
        if (expert < weights.experts)
          visit(static_cast<size_t>(expert), n, slots.weight[s * slots.positions + n]);
      }
  };
  std::fill(output + begin * weights.d_model, output + end * weights.d_model, 0.0F);
  for (int64_t from = begin; from < end; from += kMixBlock) {
    const int64_t to = std::min(end, from + kMixBlock);
    std::ranges::fill(start, 0);
    each(from, to, [&](size_t expert, int64_t, float) { ++start[expert + 1]; });
    for (size_t e = 1; e < start.size(); ++e) start[e] += start[e - 1];
    auto next = start;
    each(from, to, [&](size_t expert, int64_t n, float share) {
      const auto at = static_cast<size_t>(next[expert]++);
      position[at] = n;
      weight[at] = share;
    });
    for (int64_t e = 0; e < weights.experts; ++e) {
      const auto first = start[static_cast<size_t>(e)], last = start[static_cast<size_t>(e) + 1];
      if (first < last)
        mix_expert(weights, e, {position.data() + first, weight.data() + first, last - first}, x,
                   output);
    }
  }
}

}  // namespace ablate::models::kernel
