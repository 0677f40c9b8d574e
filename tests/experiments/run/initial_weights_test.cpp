#include <gtest/gtest.h>

#include "experiments/run/recorded_start.h"

namespace ablate::run {
namespace {

/// A matrix of 6 numbers and a vector of 3.
class SmallModule : public torch::nn::Module {
 public:
  explicit SmallModule(const std::string& vector = "b")
      : matrix(register_parameter("a", torch::ones({2, 3}))) {
    register_parameter(vector, torch::zeros({3}));
  }
  torch::Tensor matrix;
};

TEST(InitialWeights, AreTheSameWhereNameShapeAndValuesAre) {
  EXPECT_EQ(initial_weights_of(SmallModule()), initial_weights_of(SmallModule()));
  EXPECT_EQ(
      records::shared_share(initial_weights_of(SmallModule()), initial_weights_of(SmallModule())),
      1);
}

TEST(InitialWeights, ShareCountsNumbersNotParameters) {
  SmallModule other;
  torch::NoGradGuard no_grad;
  other.matrix[0][0] = 2;
  EXPECT_NEAR(records::shared_share(initial_weights_of(other), initial_weights_of(SmallModule())),
              3.0 / 9, 1e-12);
}

TEST(InitialWeights, OfAnotherNameOrShapeAreOthers) {
  const auto base = initial_weights_of(SmallModule());
  EXPECT_NEAR(records::shared_share(initial_weights_of(SmallModule("c")), base), 6.0 / 9, 1e-12);
  SmallModule turned;
  turned.matrix.set_data(torch::ones({3, 2}));
  EXPECT_NEAR(records::shared_share(initial_weights_of(turned), base), 3.0 / 9, 1e-12);
}

}  // namespace
}  // namespace ablate::run
