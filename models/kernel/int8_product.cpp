#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "models/kernel/packed_product.h"

namespace ablate::models::kernel {
namespace {

constexpr int64_t kLanes = 16;
constexpr int64_t kMiddle = 128;  // inputs are stored with it added, since they take no sign
constexpr float kMost = 127.0F;

/// What stands before a panel's weights.
struct Int8Panel {
  float scale[kPanel];
  int32_t correction[kPanel];  // -kMiddle times the sum of an output's weights

  const int8_t* weights() const { return reinterpret_cast<const int8_t*>(this + 1); }
};

int64_t quarters(int64_t width) { return (width + 3) / 4; }

const Int8Panel& panel_of(const PackedProduct<int8_t>& p, int64_t panel) {
  return *reinterpret_cast<const Int8Panel*>(p.weight + panel * int8_panel_bytes(p.width));
}

/// Rows of x in 8 bits, each with a scale of its own.
struct Rounded {
  std::vector<uint8_t> values;  // [M][4 * quarters(K)]
  std::vector<float> scales;    // [M]
};

ABLATE_CLONES float round_row(const float* x, int64_t width, uint8_t* to) {
  float most = 0;
#pragma omp simd reduction(max : most)
  for (int64_t k = 0; k < width; ++k) most = std::max(most, std::fabs(x[k]));
  const float scale = most / kMost, inverse = most > 0 ? kMost / most : 0.0F;
#pragma omp simd
  for (int64_t k = 0; k < width; ++k) {
    const float shifted = x[k] * inverse + 12582912.0F;  // 1.5 * 2^23: rounds to an integer
    to[k] = static_cast<uint8_t>(static_cast<int32_t>(shifted - 12582912.0F) + kMiddle);
  }
  return scale;
}

Rounded rounded(const PackedProduct<int8_t>& p) {
  const int64_t wide = 4 * quarters(p.width);
  Rounded x{std::vector<uint8_t>(static_cast<size_t>(p.rows * wide)),
            std::vector<float>(static_cast<size_t>(p.rows))};
  for (int64_t row = 0; row < p.rows; ++row)
    x.scales[static_cast<size_t>(row)] =
        round_row(p.x + row * p.width, p.width, x.values.data() + row * wide);
  return x;
}

/// Any processor.
void multiply_any(const PackedProduct<int8_t>& p, const Rounded& x, int64_t panel) {
  const auto& weight = panel_of(p, panel);
  const int64_t wide = 4 * quarters(p.width);
  for (int64_t row = 0; row < p.rows; ++row) {
    int32_t sums[kPanel];
    std::copy_n(weight.correction, kPanel, sums);
    const uint8_t* from = x.values.data() + row * wide;
    for (int64_t k = 0; k < wide; ++k)
      for (int64_t n = 0; n < kPanel; ++n)
        sums[n] += from[k] * weight.weights()[(k / 4 * kPanel + n) * 4 + k % 4];
    const int64_t column = panel * kPanel, columns = std::min(kPanel, p.outputs - column);
    float* to = p.output + row * p.outputs + column;
    for (int64_t n = 0; n < columns; ++n) {
      const float bias = p.bias == nullptr ? 0.0F : p.bias[column + n];
      to[n] = static_cast<float>(sums[n]) * (x.scales[static_cast<size_t>(row)] * weight.scale[n]) +
              bias;
    }
  }
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define ABLATE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

/// sum + the products of 4 bytes of x with those of 16 outputs. GCC's intrinsic copies its sums.
ABLATE_VNNI inline __m512i plus_products(__m512i sum, __m512i x, __m512i weight) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(weight));
  return sum;
}

ABLATE_VNNI inline __m512i four_of(const uint8_t* x) {
  int32_t four;
  std::memcpy(&four, x, 4);
  return _mm512_set1_epi32(four);
}

using Lanes = float __attribute__((vector_size(64), aligned(4), may_alias));
using Wholes = int32_t __attribute__((vector_size(64)));

/// 16 of the outputs of one row, from `column` on.
ABLATE_VNNI inline void store_outputs(const PackedProduct<int8_t>& p, int64_t row, int64_t column,
                                      __m512i sums, Lanes scale) {
  Lanes outputs = __builtin_convertvector((Wholes)sums, Lanes) * scale;
  float* to = p.output + row * p.outputs + column;
  if (column + kLanes <= p.outputs) {
    if (p.bias != nullptr) outputs += *reinterpret_cast<const Lanes*>(p.bias + column);
    *reinterpret_cast<Lanes*>(to) = outputs;
    return;
  }
  for (int64_t n = 0; n < p.outputs - column; ++n)
    to[n] = outputs[n] + (p.bias == nullptr ? 0.0F : p.bias[column + n]);
}

/// M rows.
template <int M>
ABLATE_VNNI inline void vnni_tile(const PackedProduct<int8_t>& p, const Rounded& x, int64_t row,
                                  int64_t panel) {
  const auto& weight = panel_of(p, panel);
  const int64_t wide = 4 * quarters(p.width);
  const int8_t* weights = weight.weights();
  const uint8_t* from = x.values.data() + row * wide;
  __m512i low[M], high[M];
  for (int i = 0; i < M; ++i) {
    low[i] = _mm512_loadu_si512(weight.correction);
    high[i] = _mm512_loadu_si512(weight.correction + kLanes);
  }
  for (int64_t k = 0; k < wide; k += 4) {
    const auto first = _mm512_loadu_si512(weights + k * kPanel);
    const auto second = _mm512_loadu_si512(weights + k * kPanel + 4 * kLanes);
    for (int i = 0; i < M; ++i) {
      const auto input = four_of(from + i * wide + k);
      low[i] = plus_products(low[i], input, first);
      high[i] = plus_products(high[i], input, second);
    }
  }
  const auto& scale = *reinterpret_cast<const Lanes*>(weight.scale);
  const auto& high_scale = *reinterpret_cast<const Lanes*>(weight.scale + kLanes);
  for (int i = 0; i < M; ++i) {
    const float factor = x.scales[static_cast<size_t>(row + i)];
    store_outputs(p, row + i, panel * kPanel, low[i], scale * factor);
    store_outputs(p, row + i, panel * kPanel + kLanes, high[i], high_scale * factor);
  }
}

ABLATE_VNNI void multiply_vnni(const PackedProduct<int8_t>& p, const Rounded& x, int64_t panel) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) vnni_tile<12>(p, x, row, panel);
  for (; row + 4 <= p.rows; row += 4) vnni_tile<4>(p, x, row, panel);
  for (; row < p.rows; ++row) vnni_tile<1>(p, x, row, panel);
}

bool has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0; }
#else
void multiply_vnni(const PackedProduct<int8_t>& p, const Rounded& x, int64_t panel) {
  multiply_any(p, x, panel);
}
bool has_vnni() { return false; }
#endif

/// The rounded weights of one output, every 4 of them 4 * kPanel apart; their sum.
int32_t pack_output(const float* weight, int64_t width, float scale, int8_t* to) {
  int32_t sum = 0;
  for (int64_t k = 0; k < width; ++k) {
    const auto value = static_cast<int8_t>(scale > 0 ? std::lround(weight[k] / scale) : 0);
    to[k / 4 * kPanel * 4 + k % 4] = value;
    sum += value;
  }
  return sum;
}

}  // namespace

int64_t int8_panel_bytes(int64_t width) {
  return static_cast<int64_t>(sizeof(Int8Panel)) + quarters(width) * 4 * kPanel;
}

void pack(const float* weight, int64_t outputs, int64_t width, int8_t* to) {
  const int64_t bytes = int8_panel_bytes(width);
  std::fill_n(to, panels(outputs) * bytes, int8_t{0});
  for (int64_t output = 0; output < outputs; ++output) {
    auto& panel = *reinterpret_cast<Int8Panel*>(to + output / kPanel * bytes);
    const float* row = weight + output * width;
    float most = 0;
    for (int64_t k = 0; k < width; ++k) most = std::max(most, std::fabs(row[k]));
    const int64_t n = output % kPanel;
    panel.scale[n] = most / kMost;
    const int32_t sum =
        pack_output(row, width, panel.scale[n], reinterpret_cast<int8_t*>(&panel + 1) + n * 4);
    panel.correction[n] = -static_cast<int32_t>(kMiddle) * sum;
  }
}

void multiply(const PackedProduct<int8_t>& product, int64_t begin, int64_t end) {
  static const bool quick = has_vnni();
  const auto x = rounded(product);
  for (int64_t panel = begin; panel < end; ++panel)
    quick ? multiply_vnni(product, x, panel) : multiply_any(product, x, panel);
}

}  // namespace ablate::models::kernel
