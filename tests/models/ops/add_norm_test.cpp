#include <gtest/gtest.h>

#include "models/ops/elementwise.h"
#include "tests/models/models.h"

namespace ablate::models::ops {
namespace {

struct Inputs {
  torch::Tensor x, branch, weight, bias;

  std::vector<torch::Tensor> all() const { return {x, branch, weight, bias}; }
  LayerNorm norm() const { return {.weight = weight, .bias = bias, .epsilon = 1e-5}; }
};

Inputs inputs_of(int64_t width) {
  torch::manual_seed(1);
  return {torch::randn({5, 9, width}).requires_grad_(),
          torch::randn({5, 9, width}).requires_grad_(), torch::randn({width}).requires_grad_(),
          torch::randn({width}).requires_grad_()};
}

TEST(AddNorm, IsTheNormOfTheSumWithItsGradients) {
  for (const int64_t width : {1, 7, 16, 130})
    for (const DropoutStream& stream :
         {DropoutStream{}, DropoutStream{.rate = 0.4, .noise = {9}}}) {
      const auto in = inputs_of(width);
      const auto fused = add_norm(in.x, in.branch, in.norm(), stream);
      const auto plain =
          torch::layer_norm(in.x + dropout(in.branch, stream), {width}, in.weight, in.bias, 1e-5);
      EXPECT_LT(largest_difference(fused, plain), 2e-5);
      const auto ours = weighted_gradients(fused, in.all()),
                 theirs = weighted_gradients(plain, in.all());
      for (size_t i = 0; i < ours.size(); ++i)
        EXPECT_LT(largest_difference(ours[i], theirs[i]), 2e-4) << width << " " << i;
    }
}

TEST(AddNorm, NeedsNoBias) {
  const auto in = inputs_of(8);
  const auto y = add_norm(in.x, in.branch, {.weight = in.weight, .bias = {}, .epsilon = 1e-5}, {});
  EXPECT_LT(largest_difference(
                y, torch::layer_norm(in.x + in.branch, {8}, in.weight, torch::Tensor(), 1e-5)),
            2e-5);
}

}  // namespace
}  // namespace ablate::models::ops
