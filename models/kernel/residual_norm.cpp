#include "models/kernel/residual_norm.h"

#include <cmath>

#include "models/kernel/isa.h"

namespace ablate::models::kernel {
namespace {

// Arguments come by value: through a reference each store might change them, and no loop would be
// vectorised.

template <class T>
ABLATE_INLINE void forward_rows(Rows rows, DropoutMask mask, ResidualNorm<T> a) {
  const int64_t width = rows.width;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const T* residual = a.residual + row * width;
    const T* branch = a.branch + row * width;
    T* sum = a.sum + row * width;
    const uint32_t key = mask.row_key(row);
    float total = 0.0F;
#pragma omp simd reduction(+ : total)
    for (int64_t d = 0; d < width; ++d) {
      const float kept = load(branch[d]) * mask.factor(key, static_cast<uint32_t>(d));
      store(sum[d], load(residual[d]) + kept);
      total += load(sum[d]);
    }
    if (a.output == nullptr) continue;
    const float mean = total / static_cast<float>(width);
    float squares = 0.0F;
#pragma omp simd reduction(+ : squares)
    for (int64_t d = 0; d < width; ++d) {
      const float centred = load(sum[d]) - mean;
      squares += centred * centred;
    }
    const float inverse = 1.0F / std::sqrt(squares / static_cast<float>(width) + a.epsilon);
    a.mean[row] = mean;
    a.inverse_deviation[row] = inverse;
    T* output = a.output + row * width;
#pragma omp simd
    for (int64_t d = 0; d < width; ++d)
      store(output[d], (load(sum[d]) - mean) * inverse * a.weight[d] + a.bias[d]);
  }
}

template <class T>
ABLATE_INLINE void backward_rows(Rows rows, DropoutMask mask, ResidualNormGradient<T> a) {
  const int64_t width = rows.width;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const T* gradient = a.output_gradient + row * width;
    const T* sum = a.sum + row * width;
    const float mean = a.mean[row];
    const float inverse = a.inverse_deviation[row];
    float total = 0.0F;
    float projected = 0.0F;
#pragma omp simd reduction(+ : total, projected)
    for (int64_t d = 0; d < width; ++d) {
      const float normal = (load(sum[d]) - mean) * inverse;
      const float incoming = load(gradient[d]);
      a.weight_gradient[d] += incoming * normal;
      a.bias_gradient[d] += incoming;
      total += incoming * a.weight[d];
      projected += incoming * a.weight[d] * normal;
    }
    total /= static_cast<float>(width);
    projected /= static_cast<float>(width);
    T* residual = a.residual_gradient + row * width;
    T* branch = a.branch_gradient + row * width;
    const uint32_t key = mask.row_key(row);
#pragma omp simd
    for (int64_t d = 0; d < width; ++d) {
      const float normal = (load(sum[d]) - mean) * inverse;
      const float outgoing =
          inverse * (load(gradient[d]) * a.weight[d] - total - normal * projected);
      store(residual[d], outgoing);
      store(branch[d], outgoing * mask.factor(key, static_cast<uint32_t>(d)));
    }
  }
}

template <class T>
ABLATE_INLINE void drop_rows(Rows rows, DropoutMask mask, const T* input, T* output) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const T* from = input + row * rows.width;
    T* to = output + row * rows.width;
    const uint32_t key = mask.row_key(row);
#pragma omp simd
    for (int64_t d = 0; d < rows.width; ++d)
      store(to[d], load(from[d]) * mask.factor(key, static_cast<uint32_t>(d)));
  }
}

}  // namespace

void residual_norm(Rows rows, const DropoutMask& mask, const ResidualNorm<float>& a) {
  on_widest<forward_rows<float>>(rows, mask, a);
}
void residual_norm(Rows rows, const DropoutMask& mask, const ResidualNorm<Bfloat16>& a) {
  on_widest<forward_rows<Bfloat16>>(rows, mask, a);
}
void residual_norm_gradient(Rows rows, const DropoutMask& mask,
                            const ResidualNormGradient<float>& a) {
  on_widest<backward_rows<float>>(rows, mask, a);
}
void residual_norm_gradient(Rows rows, const DropoutMask& mask,
                            const ResidualNormGradient<Bfloat16>& a) {
  on_widest<backward_rows<Bfloat16>>(rows, mask, a);
}
void drop(Rows rows, const DropoutMask& mask, const float* input, float* output) {
  on_widest<drop_rows<float>>(rows, mask, input, output);
}
void drop(Rows rows, const DropoutMask& mask, const Bfloat16* input, Bfloat16* output) {
  on_widest<drop_rows<Bfloat16>>(rows, mask, input, output);
}

}  // namespace ablate::models::kernel
