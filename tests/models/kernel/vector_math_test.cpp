#include "models/kernel/vector_math.h"

#include <gtest/gtest.h>

#include "models/dropout.h"
#include "models/residual.h"

namespace ablate::models {
namespace {

TEST(VectorMath, ExponentialIsAccurate) {
  for (float x = -86.5F; x < 5.0F; x += 0.01F)
    EXPECT_NEAR(kernel::exponential(x) / std::exp(x), 1.0F, 3e-7F) << x;
  EXPECT_EQ(kernel::exponential(-1000.0F), 0.0F);
  EXPECT_TRUE(std::isnan(kernel::exponential(std::nanf(""))));
}

TEST(VectorMath, Bfloat16RoundsAsTorchDoes) {
  torch::manual_seed(4);
  const auto x =
      torch::cat({torch::randn({1000}) * 100, torch::tensor({0.0F, -0.0F, INFINITY, NAN})});
  const auto expected = x.to(torch::kBFloat16);
  for (int64_t i = 0; i < x.size(0); ++i) {
    kernel::Bfloat16 rounded{};
    kernel::store(rounded, x[i].item<float>());
    const float back = kernel::load(rounded), wanted = expected[i].item<float>();
    EXPECT_TRUE(back == wanted || (std::isnan(back) && std::isnan(wanted))) << x[i].item<float>();
  }
}

}  // namespace
}  // namespace ablate::models
