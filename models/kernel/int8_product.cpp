#include "models/kernel/int8_product.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

constexpr uint32_t kZeroPoint = 128;  // stored for an input of 0
constexpr float kInt8Max = 127.0F;

/// What stands before a panel's weights.
struct Int8Panel {
  float scale[kPanel];
  int32_t correction[kPanel];  // -kZeroPoint times the sum of an output's weights

  const int8_t* weights() const { return reinterpret_cast<const int8_t*>(this + 1); }
};

int64_t quarters(int64_t width) { return (width + 3) / 4; }

int64_t panel_bytes(int64_t width) {
  return static_cast<int64_t>(sizeof(Int8Panel)) + quarters(width) * 4 * kPanel;
}

const Int8Panel& panel_of(const PackedProduct& p, const int8_t* weight, int64_t panel) {
  return *reinterpret_cast<const Int8Panel*>(weight + panel * panel_bytes(p.width));
}

/// Rounds a row; what multiplies it again.
ABLATE_INLINE float round_row(const float* x, int64_t width, uint8_t* to) {
  float largest = 0, not_finite = 0;  // stays 0, or becomes NaN
#pragma omp simd reduction(max : largest) reduction(+ : not_finite)
  for (int64_t k = 0; k < width; ++k) {
    const float size = std::fabs(x[k]);
    largest = largest < size ? size : largest;
    not_finite += x[k] - x[k];
  }
  const float inverse = largest > 0 ? kInt8Max / largest : 0.0F;
#pragma omp simd
  for (int64_t k = 0; k < width; ++k)
    to[k] = static_cast<uint8_t>(whole_of(x[k] * inverse + kRounder) + kZeroPoint);
  return largest / kInt8Max + not_finite;
}

/// Where the next tile writes: M rows from `row` on, outputs of a panel from `first` on.
struct Place {
  int64_t row, panel, first;
};

/// N outputs of one row from their sums, without the corrections.
template <int64_t N>
ABLATE_INLINE void write_sums(const PackedProduct& p, const Int8Rows& x, const Int8Panel& panel,
                              const Place& place, const int32_t* sums) {
  const float factor = x.scales[static_cast<size_t>(place.row)];
  float outputs[N];
  for (int64_t n = 0; n < N; ++n) {
    const auto at = place.first + n;
    outputs[n] = static_cast<float>(sums[n] + panel.correction[at]) * (panel.scale[at] * factor);
  }
  write<N>(p, place.row, place.panel * kPanel + place.first, outputs);
}

#define ABLATE_AVX2 __attribute__((target("arch=x86-64-v3")))

/// Four neighbouring numbers of a row in 16 bits each, four times.
ABLATE_AVX2 inline __m256i four_wide(const uint8_t* x) {
  int32_t four;
  std::memcpy(&four, x, 4);
  return _mm256_broadcastq_epi64(_mm_cvtepu8_epi16(_mm_cvtsi32_si128(four)));
}

/// The sums of 8 outputs from two sums of each. // [4][2], [4][2] -> [8]
ABLATE_AVX2 inline __m256i add_neighbours(__m256i first, __m256i second) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(first, second), 0b11'01'10'00);
}

/// M rows with 16 outputs. Products are added in pairs of 16 bits, which is exact, where AVX2 cuts
/// pairs of 8 bits off.
template <int M>
ABLATE_AVX2 inline void avx2_tile(const PackedProduct& p, const Int8Rows& x, const int8_t* weights,
                                  const Place& place) {
  const auto& weight = panel_of(p, weights, place.panel);
  const int64_t wide = 4 * quarters(p.width);
  const int8_t* values = weight.weights() + place.first * 4;
  const uint8_t* from = x.values.data() + place.row * wide;
  __m256i sums[M][4];
  for (int i = 0; i < M; ++i)
    for (auto& sum : sums[i]) sum = _mm256_setzero_si256();
  for (int64_t k = 0; k < wide; k += 4) {
    __m256i input[M];
    for (int i = 0; i < M; ++i) input[i] = four_wide(from + i * wide + k);
    for (int j = 0; j < 4; ++j) {
      const auto* four = reinterpret_cast<const __m128i*>(values + k * kPanel + j * 16);
      const auto column = _mm256_cvtepi8_epi16(_mm_loadu_si128(four));
      for (int i = 0; i < M; ++i)
        sums[i][j] = _mm256_add_epi32(sums[i][j], _mm256_madd_epi16(input[i], column));
    }
  }
  for (int i = 0; i < M; ++i) {
    alignas(32) int32_t all[16];
    for (int j = 0; j < 4; j += 2)
      _mm256_store_si256(reinterpret_cast<__m256i*>(all + 4 * j),
                         add_neighbours(sums[i][j], sums[i][j + 1]));
    write_sums<16>(p, x, weight, {place.row + i, place.panel, place.first}, all);
  }
}

ABLATE_AVX2 void multiply_avx2(const PackedProduct& p, const Int8Rows& x, const int8_t* weights,
                               int64_t panel) {
  for (int64_t first = 0; first < kPanel; first += 16) {
    int64_t row = 0;
    for (; row + 3 <= p.rows; row += 3) avx2_tile<3>(p, x, weights, {row, panel, first});
    for (; row < p.rows; ++row) avx2_tile<1>(p, x, weights, {row, panel, first});
  }
}

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

/// 16 of the outputs of one row, from `column` on.
ABLATE_VNNI inline void store_outputs(const PackedProduct& p, int64_t row, int64_t column,
                                      __m512i sums, f32x16 scale) {
  f32x16 outputs = __builtin_convertvector((i32x16)sums, f32x16) * scale;
  float* to = p.output + row * p.outputs + column;
  if (column + kLanes <= p.outputs) {
    if (p.bias != nullptr) outputs += lanes(p.bias + column);
    lanes(to) = outputs;
    return;
  }
  for (int64_t n = 0; n < p.outputs - column; ++n)
    to[n] = outputs[n] + (p.bias == nullptr ? 0.0F : p.bias[column + n]);
}

/// M rows.
template <int M>
ABLATE_VNNI inline void vnni_tile(const PackedProduct& p, const Int8Rows& x, const int8_t* weights,
                                  int64_t row, int64_t panel) {
  const auto& weight = panel_of(p, weights, panel);
  const int64_t wide = 4 * quarters(p.width);
  const int8_t* values = weight.weights();
  const uint8_t* from = x.values.data() + row * wide;
  __m512i low[M], high[M];
  for (int i = 0; i < M; ++i) {
    low[i] = _mm512_loadu_si512(weight.correction);
    high[i] = _mm512_loadu_si512(weight.correction + kLanes);
  }
  for (int64_t k = 0; k < wide; k += 4) {
    const auto first = _mm512_loadu_si512(values + k * kPanel);
    const auto second = _mm512_loadu_si512(values + k * kPanel + 4 * kLanes);
    for (int i = 0; i < M; ++i) {
      const auto input = four_of(from + i * wide + k);
      low[i] = plus_products(low[i], input, first);
      high[i] = plus_products(high[i], input, second);
    }
  }
  const auto& scale = lanes(weight.scale);
  const auto& high_scale = lanes(weight.scale + kLanes);
  for (int i = 0; i < M; ++i) {
    const float factor = x.scales[static_cast<size_t>(row + i)];
    store_outputs(p, row + i, panel * kPanel, low[i], scale * factor);
    store_outputs(p, row + i, panel * kPanel + kLanes, high[i], high_scale * factor);
  }
}

ABLATE_VNNI void multiply_vnni(const PackedProduct& p, const Int8Rows& x, const int8_t* weights,
                               int64_t panel) {
  int64_t row = 0;
  for (; row + 12 <= p.rows; row += 12) vnni_tile<12>(p, x, weights, row, panel);
  for (; row + 4 <= p.rows; row += 4) vnni_tile<4>(p, x, weights, row, panel);
  for (; row < p.rows; ++row) vnni_tile<1>(p, x, weights, row, panel);
}

bool has_vnni() { return isa() == Isa::avx512 && __builtin_cpu_supports("avx512vnni") != 0; }

/// The rounded weights of one output, every 4 of them 4 * kPanel apart; their sum.
int32_t pack_output(const float* weight, int64_t width, float scale, int8_t* to) {
  int32_t sum = 0;
  for (int64_t k = 0; k < width; ++k) {
    const auto value = static_cast<int8_t>(std::lround(weight[k] / scale));
    to[k / 4 * kPanel * 4 + k % 4] = value;
    sum += value;
  }
  return sum;
}

/// Of the weights' largest; NaN where one of them is not finite.
float scale_of(const float* weight, int64_t width) {
  float largest = 0;
  for (int64_t k = 0; k < width; ++k) {
    if (!std::isfinite(weight[k])) return std::numeric_limits<float>::quiet_NaN();
    largest = std::max(largest, std::fabs(weight[k]));
  }
  return largest / kInt8Max;
}

}  // namespace

int64_t int8_bytes(int64_t outputs, int64_t width) { return panels(outputs) * panel_bytes(width); }

void pack(const float* weight, int64_t outputs, int64_t width, int8_t* to) {
  std::fill_n(to, int8_bytes(outputs, width), int8_t{0});
  for (int64_t output = 0; output < outputs; ++output) {
    auto& panel = *reinterpret_cast<Int8Panel*>(to + output / kPanel * panel_bytes(width));
    const float* row = weight + output * width;
    const int64_t n = output % kPanel;
    panel.scale[n] = scale_of(row, width);
    if (!(panel.scale[n] > 0)) continue;
    const int32_t sum =
        pack_output(row, width, panel.scale[n], reinterpret_cast<int8_t*>(&panel + 1) + n * 4);
    panel.correction[n] = -static_cast<int32_t>(kZeroPoint) * sum;
  }
}

Int8Rows int8_rows(const float* x, int64_t rows, int64_t width) {
  const int64_t wide = 4 * quarters(width);
  Int8Rows rounded{std::vector<uint8_t>(static_cast<size_t>(rows * wide)),
                   std::vector<float>(static_cast<size_t>(rows))};
  for (int64_t row = 0; row < rows; ++row)
    rounded.scales[static_cast<size_t>(row)] =
        on_widest<round_row>(x + row * width, width, rounded.values.data() + row * wide);
  return rounded;
}

void multiply(const PackedProduct& product, const Int8Rows& x, const int8_t* weight, int64_t begin,
              int64_t end) {
  const auto multiply_panel = has_vnni() ? multiply_vnni : multiply_avx2;
  for (int64_t panel = begin; panel < end; ++panel) multiply_panel(product, x, weight, panel);
}

}  // namespace ablate::models::kernel
