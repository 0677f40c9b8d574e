#include "models/kernel/top_k.h"

#include "models/ops/cpu/backend.h"

namespace ablate::models::ops::cpu {

SoftmaxTopK softmax_top_k(const torch::Tensor& scores, int64_t k) {
  const int64_t rows = scores.size(0), width = scores.size(1);
  SoftmaxTopK best{.probabilities = torch::empty_like(scores),
                   .top = {.values = torch::empty({rows, k}, scores.options()),
                           .indices = torch::empty({rows, k}, torch::kLong)}};
  const float* from = scores.const_data_ptr<float>();
  float* probabilities = best.probabilities.mutable_data_ptr<float>();
  float* values = best.top.values.mutable_data_ptr<float>();
  int64_t* indices = best.top.indices.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row)
    kernel::softmax_top_k(from + row * width, width, probabilities + row * width,
                          {.value = values + row * k, .index = indices + row * k, .count = k});
  return best;
}

TopK log_softmax_top_k(const torch::Tensor& logits, int64_t k) {
  const int64_t rows = logits.size(0), width = logits.size(1);
  TopK best{.values = torch::empty({rows, k}, torch::kDouble),
            .indices = torch::empty({rows, k}, torch::kLong)};
  const float* from = logits.const_data_ptr<float>();
  double* values = best.values.mutable_data_ptr<double>();
  int64_t* indices = best.indices.mutable_data_ptr<int64_t>();
  std::vector<float> value(static_cast<size_t>(k));
  for (int64_t row = 0; row < rows; ++row) {
    const float all = kernel::top_k(
        from + row * width, width, {.value = value.data(), .index = indices + row * k, .count = k});
    for (int64_t i = 0; i < k; ++i)
      values[row * k + i] = static_cast<double>(value[static_cast<size_t>(i)] - all);
  }
  return best;
}

}  // namespace ablate::models::ops::cpu
