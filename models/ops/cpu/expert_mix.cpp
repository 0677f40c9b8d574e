#include "models/kernel/expert_mix.h"

#include "models/kernel/packed_product.h"
#include "models/kernel/reductions.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops::cpu {
namespace {

const float* data_of(const torch::Tensor& x) {
  return x.defined() ? x.const_data_ptr<float>() : nullptr;
}

}  // namespace

torch::Tensor pack_experts(const torch::Tensor& up, int64_t d_hidden) {
  if (d_hidden % kernel::kPanel != 0) return {};
  const torch::NoGradGuard no_grad;
  const auto all = up.to(torch::kCPU, torch::kFloat).flatten(0, 1).contiguous();  // [E F, D]
  auto packed = torch::empty_like(all);
  kernel::pack(all.const_data_ptr<float>(), all.size(0), all.size(1),
               packed.mutable_data_ptr<float>());
  return packed;
}

torch::Tensor mix_experts(const torch::Tensor& x, const Experts& experts,
                          const ExpertChoice& choice) {
  const kernel::ExpertWeights weights{.up = data_of(experts.up),
                                      .up_packed = data_of(experts.packed_up),
                                      .up_bias = data_of(experts.up_bias),
                                      .down = data_of(experts.down),
                                      .down_bias = data_of(experts.down_bias),
                                      .experts = experts.up.size(0),
                                      .d_hidden = experts.down.size(1),
                                      .d_model = x.size(1),
                                      .activation = experts.activation,
                                      .gated = experts.gated};
  const auto expert = choice.expert.contiguous(), weight = choice.weight.contiguous();
  const kernel::ExpertSlots slots{.expert = expert.const_data_ptr<int64_t>(),
                                  .weight = weight.const_data_ptr<float>(),
                                  .slots = expert.size(1)};
  auto output = torch::empty_like(x);
  const float* from = x.const_data_ptr<float>();
  float* to = output.mutable_data_ptr<float>();
  at::parallel_for(0, x.size(0), kernel::kMixBlock, [&](int64_t begin, int64_t end) {
    kernel::mix_experts(weights, slots, from, to, begin, end);
  });
  return output;
}

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
