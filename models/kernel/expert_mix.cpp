#include "models/kernel/expert_mix.h"

#include <algorithm>
#include <vector>

#include "models/kernel/isa.h"
#include "models/kernel/packed_product.h"
#include "models/kernel/simd.h"

namespace ablate::models::kernel {
namespace {

constexpr int64_t kNeurons = kPanel;  // of an expert at a time: their weights stay in the cache

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

struct Math {
  ABLATE_INLINE static float exponential(float x) { return kernel::exponential(x); }
  ABLATE_INLINE static float error_function(float x) { return kernel::error_function(x); }
};

/// to[i] = activation(to[i]) * factor, a loop for each activation.
ABLATE_INLINE void apply_activation(Activation activation, float* to, float factor) {
  with_activation(
      activation, [&](auto held) __attribute__((always_inline)) {
#pragma omp simd
        for (int64_t i = 0; i < kNeurons; ++i) to[i] = held.scaled(to[i], factor, Math{});
      });
}

/// Positions of one expert and their weights.
struct Rows {
  const int64_t* position;
  const float* weight;
  int64_t count = 0;
};

/// to[r][n] = up[n] . x[position r] for `neurons` rows of `up`; later elements are undefined.
template <int R>
ABLATE_INLINE void products(const float* x, const Rows& rows, const float* up, int64_t neurons,
                            int64_t d_model, float (*to)[kNeurons]) {
  constexpr int kColumns = kLanes / R;
  const float* from[R];
  for (int r = 0; r < R; ++r) from[r] = x + rows.position[r] * d_model;
  for (int64_t n = 0; n < neurons; n += kColumns) {
    const float* weights[kColumns];
    for (int64_t j = 0; j < kColumns; ++j)
      weights[j] = up + (n + j < neurons ? n + j : n) * d_model;
    f32x16 sums[kLanes] = {};
    for (int64_t d = 0; d < d_model; d += kLanes)
      for (int r = 0; r < R; ++r)
        for (int j = 0; j < kColumns; ++j)
          sums[r * kColumns + j] += lanes(from[r] + d) * lanes(weights[j] + d);
    horizontal_add(sums);
    alignas(64) float all[kLanes];
    lanes(all) = sums[0];
    for (int r = 0; r < R; ++r)
      __builtin_memcpy(&to[r][n], all + r * kColumns, kColumns * sizeof(float));
  }
}

// L: numbers of a register

/// The same for a whole packed panel, which is read in one stream for each two registers.
template <int L, int R>
ABLATE_INLINE void packed_products(const float* x, const Rows& rows, const float* panel,
                                   int64_t d_model, float (*to)[kNeurons]) {
  const float* from[R];
  for (int r = 0; r < R; ++r) from[r] = x + rows.position[r] * d_model;
  for (int64_t n = 0; n < kNeurons; n += 2 * L) {
    Register<L> sums[R][2] = {};
    for (int64_t d = 0; d < d_model; ++d) {
      const Register<L> first = load<L>(panel + d * kNeurons + n);
      const Register<L> second = load<L>(panel + d * kNeurons + n + L);
      for (int r = 0; r < R; ++r) {
        sums[r][0] += from[r][d] * first;
        sums[r][1] += from[r][d] * second;
      }
    }
    for (int r = 0; r < R; ++r) {
      load<L>(to[r] + n) = sums[r][0];
      load<L>(to[r] + n + L) = sums[r][1];
    }
  }
}

/// output[position r] += sum over n of hidden[r][n] down[n], in the columns of W registers.
template <int L, int R, int W>
ABLATE_INLINE void add_columns(const float (*hidden)[kNeurons], const Rows& rows, const float* down,
                               int64_t neurons, int64_t d_model, float* output) {
  Register<L> sums[R][W] = {};
  for (int64_t n = 0; n < neurons; ++n)
    for (int r = 0; r < R; ++r)
      for (int w = 0; w < W; ++w) sums[r][w] += hidden[r][n] * load<L>(down + n * d_model + w * L);
  for (int r = 0; r < R; ++r)
    for (int w = 0; w < W; ++w) load<L>(output + rows.position[r] * d_model + w * L) += sums[r][w];
}

template <int L, int R>
ABLATE_INLINE void add_outputs(const float (*hidden)[kNeurons], const Rows& rows, const float* down,
                               int64_t neurons, int64_t d_model, float* output) {
  constexpr int kWide = L == 16 ? 4 : 2;  // AVX-512 has twice the registers
  int64_t d = 0;
  for (; d + kWide * L <= d_model; d += kWide * L)
    add_columns<L, R, kWide>(hidden, rows, down + d, neurons, d_model, output + d);
  for (; d < d_model; d += L)
    add_columns<L, R, 1>(hidden, rows, down + d, neurons, d_model, output + d);
}

/// Part of an expert: at most kNeurons neurons, with their biases or zeros.
struct Part {
  const float *up, *gate, *down;  // rows; no gate: null
  alignas(64) float up_bias[kNeurons], gate_bias[kNeurons];
  int64_t neurons;
  bool packed;  // `up` and `gate` are panels
};

/// Adds the output of a part to R positions.
template <int L, int R>
ABLATE_INLINE void mix_tile(const Part& part, Activation activation, int64_t d_model,
                            const Rows& rows, const float* x, float* output) {
  alignas(64) float hidden[R][kNeurons] = {}, gate[R][kNeurons] = {};
  const auto multiplied = [&](const float* weight, float(*to)[kNeurons])
      __attribute__((always_inline)) {
    if (part.packed)
      packed_products<L, R>(x, rows, weight, d_model, to);
    else
      products<R>(x, rows, weight, part.neurons, d_model, to);
  };
  multiplied(part.up, hidden);
  if (part.gate != nullptr) multiplied(part.gate, gate);
  for (int r = 0; r < R; ++r) {
#pragma omp simd
    for (int64_t n = 0; n < kNeurons; ++n) hidden[r][n] += part.up_bias[n];
    if (part.gate == nullptr) {
      apply_activation(activation, hidden[r], rows.weight[r]);
      continue;
    }
#pragma omp simd
    for (int64_t n = 0; n < kNeurons; ++n) gate[r][n] += part.gate_bias[n];
    apply_activation(activation, gate[r], rows.weight[r]);
#pragma omp simd
    for (int64_t n = 0; n < kNeurons; ++n) hidden[r][n] *= gate[r][n];
  }
  add_outputs<L, R>(hidden, rows, part.down, part.neurons, d_model, output);
}

/// Neurons of `expert` from number `first` on.
ABLATE_INLINE Part part_of(const ExpertWeights& w, int64_t expert, int64_t first) {
  const int64_t wide = w.gated ? 2 * w.d_hidden : w.d_hidden;
  const int64_t row = expert * wide + first, behind = w.gated ? w.d_hidden : 0;
  // Packed panels start at the offset of their rows.
  const float* up = w.up_packed == nullptr ? w.up : w.up_packed;
  Part part{.up = up + (row + behind) * w.d_model,
            .gate = w.gated ? up + row * w.d_model : nullptr,
            .down = w.down + (expert * w.d_hidden + first) * w.d_model,
            .up_bias = {},
            .gate_bias = {},
            .neurons = std::min(kNeurons, w.d_hidden - first),
            .packed = w.up_packed != nullptr};
  if (w.up_bias == nullptr) return part;
  std::copy_n(w.up_bias + row + behind, part.neurons, part.up_bias);
  std::copy_n(w.up_bias + row, part.neurons, part.gate_bias);
  return part;
}

template <int L>
ABLATE_INLINE void mix_tiles(const ExpertWeights& w, int64_t expert, const Rows& rows,
                             const float* x, float* output) {
  if (w.down_bias != nullptr)
    for (int64_t r = 0; r < rows.count; ++r)
      for (int64_t d = 0; d < w.d_model; ++d)
        output[rows.position[r] * w.d_model + d] +=
            rows.weight[r] * w.down_bias[expert * w.d_model + d];
  for (int64_t first = 0; first < w.d_hidden; first += kNeurons) {
    const Part part = part_of(w, expert, first);
    if (rows.count > 1 && first + kNeurons < w.d_hidden) {
      const int64_t ahead = std::min(kNeurons, w.d_hidden - first - kNeurons) * w.d_model;
      prefetch<2>(part.up + kNeurons * w.d_model, ahead);
      prefetch<2>(part.down + kNeurons * w.d_model, ahead);
    }
    int64_t r = 0;
    const auto next = [&] { return Rows{rows.position + r, rows.weight + r}; };
    for (; r + 4 <= rows.count; r += 4)
      mix_tile<L, 4>(part, w.activation, w.d_model, next(), x, output);
    for (; r + 2 <= rows.count; r += 2)
      mix_tile<L, 2>(part, w.activation, w.d_model, next(), x, output);
    for (; r < rows.count; ++r) mix_tile<L, 1>(part, w.activation, w.d_model, next(), x, output);
  }
}

void mix_expert(const ExpertWeights& w, int64_t expert, const Rows& rows, const float* x,
                float* output) {
  on_widest_of<mix_tiles<16>, mix_tiles<8>, mix_tiles<4>>(w, expert, rows, x, output);
}

}  // namespace

void mix_experts(const ExpertWeights& weights, const ExpertSlots& slots, const float* x,
                 float* output, int64_t begin, int64_t end) {
  std::vector<int64_t> start(static_cast<size_t>(weights.experts) + 1);
  std::vector<int64_t> position(static_cast<size_t>(slots.slots * kMixBlock));
  std::vector<float> weight(position.size());
  const auto each = [&](int64_t from, int64_t to, auto&& visit) {
    for (int64_t i = from * slots.slots; i < to * slots.slots; ++i)
      if (slots.expert[i] < weights.experts)
        visit(static_cast<size_t>(slots.expert[i]), i / slots.slots, slots.weight[i]);
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
