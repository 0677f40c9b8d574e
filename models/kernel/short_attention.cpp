#include "models/kernel/short_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

/// A matrix in scratch memory; `row` and `column` are strides, so a transpose swaps them.
struct View {
  const float* data;
  int64_t row;
  int64_t column;
};

/// output[m, n] = sum over k of a[m, k] b[k, n]; n runs over whole groups of 16 lanes.
struct Product {
  View a;
  const float* b;  // rows of `width` numbers
  float* output;   // rows of `width` numbers
  int64_t rows, depth, width;
};

template <int L, int M>
ABLATE_INLINE void product_block(const Product& p, int64_t m, int64_t n) {
  constexpr int kRegisters = kLanes / L;
  Register<L> sums[M][kRegisters] = {};
  const float* b = p.b + n;
  const float* a = p.a.data + m * p.a.row;
  for (int64_t k = 0; k < p.depth; ++k)
    for (int i = 0; i < M; ++i)
      for (int r = 0; r < kRegisters; ++r)
        sums[i][r] += a[i * p.a.row + k * p.a.column] * load<L>(b + k * p.width + r * L);
  for (int i = 0; i < M; ++i)
    for (int r = 0; r < kRegisters; ++r)
      load<L>(p.output + (m + i) * p.width + n + r * L) = sums[i][r];
}

/// The last block begins early rather than being narrow: some rows are computed twice.
template <int L>
ABLATE_INLINE void multiply(const Product& p) {
  constexpr int kRows = L / 2;  // 8 registers of sums, which do not wait for each other
  for (int64_t n = 0; n < p.width; n += kLanes) {
    if (p.rows < kRows) {
      for (int64_t m = 0; m < p.rows; ++m) product_block<L, 1>(p, m, n);
      continue;
    }
    for (int64_t m = 0; m < p.rows - kRows; m += kRows) product_block<L, kRows>(p, m, n);
    product_block<L, kRows>(p, p.rows - kRows, n);
  }
}

/// The position of one (batch, head) item.
struct Item {
  int64_t batch, head;
};

template <class T>
ABLATE_INLINE T* at(const Packed<T>& packed, Item item, int64_t rows, int64_t width) {
  return packed.pointer + item.batch * rows * packed.stride + item.head * width;
}

/// Copies one head of `rows` rows to scratch [rows, padded(width)], scaled, zero behind `width`.
template <class T>
ABLATE_INLINE void gather(Packed<const T> packed, Item item, int64_t rows, int64_t width,
                          float scale, float* to) {
  const T* from = at(packed, item, rows, width);
  const int64_t wide = padded(width), whole = width / kLanes * kLanes;
  for (int64_t r = 0; r < rows; ++r) {
    const T* row = from + r * packed.stride;
    float* out = to + r * wide;
    for (int64_t c = 0; c < whole; c += kLanes)
#pragma omp simd
      for (int64_t lane = 0; lane < kLanes; ++lane) out[c + lane] = load(row[c + lane]) * scale;
    for (int64_t c = whole; c < width; ++c) out[c] = load(row[c]) * scale;
    for (int64_t c = width; c < wide; ++c) out[c] = 0.0F;
  }
}

/// Writes the transpose of [rows, columns], multiples of 16.
template <int L>
ABLATE_INLINE void write_transpose(const float* from, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; r += L)
    for (int64_t c = 0; c < columns; c += L) {
      Register<L> block[L];
      for (int i = 0; i < L; ++i) block[i] = load<L>(from + (r + i) * columns + c);
      transpose<L>(block);
      for (int i = 0; i < L; ++i) load<L>(to + (c + i) * rows + r) = block[i];
    }
}

template <class T>
ABLATE_INLINE void scatter(const float* from, Item item, int64_t rows, int64_t width, float scale,
                           Packed<T> packed) {
  T* to = at(packed, item, rows, width);
  const int64_t wide = padded(width), whole = width / kLanes * kLanes;
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = from + r * wide;
    T* out = to + r * packed.stride;
    for (int64_t c = 0; c < whole; c += kLanes)
#pragma omp simd
      for (int64_t lane = 0; lane < kLanes; ++lane) store(out[c + lane], row[c + lane] * scale);
    for (int64_t c = whole; c < width; ++c) store(out[c], row[c] * scale);
  }
}

/// Turns the rows of one head's scratch by their positions' angles, or back (`direction` -1).
ABLATE_INLINE void rotate_rows(float* x, int64_t rows, int64_t wide, const RotaryTable& table,
                               float direction) {
  const int64_t pairs = table.pairs;
  const int64_t step = table.interleaved ? 2 : 1, apart = table.interleaved ? 1 : pairs;
  for (int64_t r = 0; r < rows; ++r) {
    const float* cosine = table.cosine + r * pairs;
    const float* sine = table.sine + r * pairs;
    float* first = x + r * wide;
    float* second = first + apart;
#pragma omp simd
    for (int64_t p = 0; p < pairs; ++p) {
      const float a = first[p * step], b = second[p * step], s = sine[p] * direction;
      first[p * step] = a * cosine[p] - b * s;
      second[p * step] = b * cosine[p] + a * s;
    }
  }
}

/// to += from.
ABLATE_INLINE void add(float* to, const float* from, int64_t count) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

/// Turns one padded row of scores into probabilities; the first `visible` keys may be attended to.
ABLATE_INLINE void softmax_row(float* row, int64_t visible, int64_t wide, const bool* mask) {
  constexpr float kNever = -std::numeric_limits<float>::max();
  if (mask != nullptr)
    for (int64_t s = 0; s < visible; ++s) row[s] = mask[s] ? row[s] : kNever;
  for (int64_t s = visible; s < wide; ++s) row[s] = kNever;
  float largest = kNever;
  for (int64_t s = 0; s < wide; s += kLanes) {
#pragma omp simd reduction(max : largest)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      largest = row[s + lane] > largest ? row[s + lane] : largest;
  }
  float total = 0.0F;
  for (int64_t s = 0; s < wide; s += kLanes) {
#pragma omp simd reduction(+ : total)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      row[s + lane] = exponential(row[s + lane] - largest);
      total += row[s + lane];
    }
  }
  const float inverse = largest == kNever ? 0.0F : 1.0F / total;
  for (int64_t s = 0; s < wide; s += kLanes)
#pragma omp simd
    for (int64_t lane = 0; lane < kLanes; ++lane) row[s + lane] *= inverse;
}

/// Weights of one item, or their gradients, in scratch memory.
struct Weights {
  int64_t first_row;  // among those of all items
  int64_t rows, wide;
};

/// Writes the weights that a dropout keeps, scaled; `to` may be `from`.
ABLATE_INLINE void drop(const DropoutMask& mask, const Weights& of, const float* from, float* to) {
  for (int64_t r = 0; r < of.rows; ++r) {
    const uint32_t key = mask.row_key(of.first_row + r);
    const float* weights = from + r * of.wide;
    float* kept = to + r * of.wide;
#pragma omp simd
    for (int64_t s = 0; s < of.wide; ++s)
      kept[s] = weights[s] * mask.factor(key, static_cast<uint32_t>(s));
  }
}

template <int L, class T>
ABLATE_INLINE void forward_items(int64_t begin, int64_t end, const Attention<T>& a) {
  const auto& s = a.shape;
  const int64_t wide_k = padded(s.d_k), wide_v = padded(s.d_v), wide_s = padded(s.keys);
  const bool drops = a.dropout.threshold > 0;
  std::vector<float> scratch(
      static_cast<size_t>(s.queries * (wide_k + wide_v + (drops ? wide_s : 0)) +
                          2 * wide_k * wide_s + s.keys * wide_v));
  float* query = scratch.data();
  float* output = query + s.queries * wide_k;
  float* key = output + s.queries * wide_v;
  float* key_by_column = key + wide_s * wide_k;
  float* value = key_by_column + wide_k * wide_s;
  float* dropped = value + s.keys * wide_v;
  const float scale = 1.0F / std::sqrt(static_cast<float>(s.d_k));
  for (int64_t i = begin; i < end; ++i) {
    const Item item{i / s.heads, i % s.heads};
    gather(a.input.query, item, s.queries, s.d_k, scale, query);
    gather(a.input.key, item, s.keys, s.d_k, 1.0F, key);
    rotate_rows(query, s.queries, wide_k, a.input.rotary, 1.0F);
    rotate_rows(key, s.keys, wide_k, a.input.rotary, 1.0F);
    write_transpose<L>(key, wide_s, wide_k, key_by_column);
    gather(a.input.value, item, s.keys, s.d_v, 1.0F, value);
    float* probabilities = a.probabilities + i * s.queries * wide_s;
    multiply<L>({{query, wide_k, 1}, key_by_column, probabilities, s.queries, s.d_k, wide_s});
    if (a.input.bias != nullptr)
      add(probabilities, a.input.bias + item.head * s.queries * wide_s, s.queries * wide_s);
    const bool* mask = a.input.padding_mask;
    if (mask != nullptr) mask += item.batch * s.keys;
    for (int64_t t = 0; t < s.queries; ++t) {
      const int64_t visible = s.causal && t + 1 < s.keys ? t + 1 : s.keys;
      softmax_row(probabilities + t * wide_s, visible, wide_s, mask);
    }
    if (drops) drop(a.dropout, {i * s.queries, s.queries, wide_s}, probabilities, dropped);
    const float* weights = drops ? dropped : probabilities;
    multiply<L>({{weights, wide_s, 1}, value, output, s.queries, s.keys, wide_v});
    scatter(output, item, s.queries, s.d_v, 1.0F, a.output);
  }
}

/// score_gradient = probabilities * (probability_gradient - row sum of their product), in place.
ABLATE_INLINE void softmax_gradient(const float* probabilities, float* gradient, int64_t rows,
                                    int64_t wide) {
  for (int64_t t = 0; t < rows; ++t) {
    const float* p = probabilities + t * wide;
    float* g = gradient + t * wide;
    float total = 0.0F;
#pragma omp simd reduction(+ : total)
    for (int64_t s = 0; s < wide; ++s) total += p[s] * g[s];
#pragma omp simd
    for (int64_t s = 0; s < wide; ++s) g[s] = p[s] * (g[s] - total);
  }
}

template <int L, class T>
ABLATE_INLINE void backward_items(int64_t begin, int64_t end, const AttentionGradient<T>& a) {
  const auto& s = a.shape;
  const int64_t wide_k = padded(s.d_k), wide_v = padded(s.d_v), wide_s = padded(s.keys);
  const int64_t longest = std::max(s.queries, s.keys), widest = std::max(wide_k, wide_v);
  const bool drops = a.dropout.threshold > 0;
  std::vector<float> scratch(static_cast<size_t>(s.queries * (wide_k + wide_v + wide_s) +
                                                 2 * wide_v * wide_s + s.keys * wide_k +
                                                 longest * widest));
  float* query = scratch.data();
  float* incoming = query + s.queries * wide_k;
  float* score = incoming + s.queries * wide_v;
  float* value = score + s.queries * wide_s;
  float* value_by_column = value + wide_s * wide_v;
  float* key = value_by_column + wide_v * wide_s;
  float* result = key + s.keys * wide_k;
  const float scale = 1.0F / std::sqrt(static_cast<float>(s.d_k));
  for (int64_t i = begin; i < end; ++i) {
    const Item item{i / s.heads, i % s.heads};
    const float* probabilities = a.probabilities + i * s.queries * wide_s;
    gather(a.input.query, item, s.queries, s.d_k, scale, query);
    gather(a.input.key, item, s.keys, s.d_k, 1.0F, key);
    rotate_rows(query, s.queries, wide_k, a.input.rotary, 1.0F);
    rotate_rows(key, s.keys, wide_k, a.input.rotary, 1.0F);
    gather(a.input.value, item, s.keys, s.d_v, 1.0F, value);
    write_transpose<L>(value, wide_s, wide_v, value_by_column);
    gather(a.output_gradient, item, s.queries, s.d_v, 1.0F, incoming);
    multiply<L>({{incoming, wide_v, 1}, value_by_column, score, s.queries, s.d_v, wide_s});
    const Weights rows{i * s.queries, s.queries, wide_s};
    if (drops) drop(a.dropout, rows, score, score);
    softmax_gradient(probabilities, score, s.queries, wide_s);
    if (a.bias_gradient != nullptr)
      add(a.bias_gradient + item.head * s.queries * wide_s, score, s.queries * wide_s);
    multiply<L>({{score, wide_s, 1}, key, result, s.queries, s.keys, wide_k});
    rotate_rows(result, s.queries, wide_k, a.input.rotary, -1.0F);
    scatter(result, item, s.queries, s.d_k, scale, a.query_gradient);
    multiply<L>({{score, 1, wide_s}, query, result, s.keys, s.queries, wide_k});
    rotate_rows(result, s.keys, wide_k, a.input.rotary, -1.0F);
    scatter(result, item, s.keys, s.d_k, 1.0F, a.key_gradient);
    if (drops) drop(a.dropout, rows, probabilities, score);
    const float* weights = drops ? score : probabilities;
    multiply<L>({{weights, 1, wide_s}, incoming, result, s.keys, s.queries, wide_v});
    scatter(result, item, s.keys, s.d_v, 1.0F, a.value_gradient);
  }
}

}  // namespace

void attention(int64_t begin, int64_t end, const Attention<float>& a) {
  on_widest_of<forward_items<16, float>, forward_items<8, float>, forward_items<4, float>>(begin,
                                                                                           end, a);
}
void attention(int64_t begin, int64_t end, const Attention<Bfloat16>& a) {
  on_widest_of<forward_items<16, Bfloat16>, forward_items<8, Bfloat16>, forward_items<4, Bfloat16>>(
      begin, end, a);
}
void attention_gradient(int64_t begin, int64_t end, const AttentionGradient<float>& a) {
  on_widest_of<backward_items<16, float>, backward_items<8, float>, backward_items<4, float>>(
      begin, end, a);
}
void attention_gradient(int64_t begin, int64_t end, const AttentionGradient<Bfloat16>& a) {
  on_widest_of<backward_items<16, Bfloat16>, backward_items<8, Bfloat16>,
               backward_items<4, Bfloat16>>(begin, end, a);
}

}  // namespace ablate::models::kernel
