#pragma once

#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/models/models.h"

namespace ablate::models {

inline constexpr PositionContext kDecoder{
    .d_model = 8, .heads = 2, .d_k = 8, .d_v = 8, .layers = 2, .causal = true};
inline constexpr PositionContext kEncoder{
    .d_model = 8, .heads = 2, .d_k = 8, .d_v = 8, .layers = 2, .causal = false};

inline torch::Tensor numbers(const std::vector<double>& values) {
  return torch::tensor(values, torch::kDouble);
}

inline void expect_near(const torch::Tensor& a, const torch::Tensor& b, double tolerance = 1e-6) {
  ASSERT_EQ(a.sizes(), b.sizes());
  EXPECT_LT((a.to(torch::kDouble) - b.to(torch::kDouble)).abs().max().item<double>(), tolerance)
      << a << b;
}

inline torch::Tensor embedding(const PositionOptions& options, int64_t position, int64_t d_model) {
  return make_position(
             options,
             {.d_model = d_model, .heads = 2, .d_k = 8, .d_v = 8, .layers = 2, .causal = true})
      ->embedding(torch::tensor({position}), position + 1)[0];
}

}  // namespace ablate::models
