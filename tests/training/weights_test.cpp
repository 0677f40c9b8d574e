#include "training/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/says.h"

namespace ablate::training {
namespace {

/// A weight [2] and a buffer of whole numbers [2], those of a sub-module.
struct Nested : torch::nn::Module {
  Nested() {
    inner->register_parameter("weight", torch::tensor({1.0F, 2.0F}));
    inner->register_buffer("chosen", torch::tensor({1, 2}));
    register_module("inner", inner);
  }
  std::shared_ptr<torch::nn::Module> inner = std::make_shared<torch::nn::Module>();
};

/// What load_weights says of these weights; "" where it takes them.
std::string complaint(const Weights& weights) {
  const Nested model;
  try {
    load_weights(model, weights);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(Weights, AreParametersAndBuffersThemselvesByName) {
  const Nested model;
  const auto weights = weights_of(model);
  ASSERT_EQ(weights.size(), 2U);
  torch::NoGradGuard no_grad;
  weights.at("inner.weight").fill_(7);
  EXPECT_EQ(model.inner->parameters()[0][0].item<float>(), 7);
  EXPECT_TRUE(weights.at("inner.chosen").is_same(model.inner->buffers()[0]));
}

TEST(Weights, AreCopiedIntoAModel) {
  const Nested model;
  const auto weight = torch::tensor({3.0F, 4.0F}), chosen = torch::tensor({5, 6});
  load_weights(model, {{"inner.weight", weight}, {"inner.chosen", chosen}});
  EXPECT_TRUE(torch::equal(weights_of(model).at("inner.weight"), weight));
  EXPECT_TRUE(torch::equal(weights_of(model).at("inner.chosen"), chosen));
  EXPECT_FALSE(weights_of(model).at("inner.weight").is_alias_of(weight));
}

TEST(Weights, MissingSurplusOrOfAnotherShapeAreRefusedByName) {
  const auto weight = torch::zeros(2), chosen = torch::tensor({5, 6});
  EXPECT_EQ(complaint({{"inner.weight", weight}, {"inner.chosen", chosen}}), "");
  EXPECT_TRUE(says(complaint({{"inner.weight", weight}}), "lacks the weight 'inner.chosen'"));
  EXPECT_TRUE(
      says(complaint({{"inner.weight", weight}, {"inner.chosen", chosen}, {"other", weight}}),
           "the model has no weight 'other'"));
  EXPECT_TRUE(says(complaint({{"inner.weight", torch::zeros({2, 3})}, {"inner.chosen", chosen}}),
                   "'inner.weight' is [2, 3] in the checkpoint and [2] in the model"));
}

TEST(Weights, ThatAreNotFiniteAreNamed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto chosen = torch::tensor({5, 6});
  EXPECT_EQ(not_finite({{"chosen", chosen}, {"w", torch::tensor({1.0F, 3e38F})}}), std::nullopt);
  EXPECT_EQ(not_finite({{"chosen", chosen}, {"w", torch::tensor({1.0F, std::nanf("")})}}),
            "the weight 'w' holds 1 number of 2 that is not finite");
  EXPECT_EQ(not_finite({{"w", torch::tensor({kInfinity, -kInfinity, 0.0F}).to(torch::kBFloat16)}}),
            "the weight 'w' holds 2 numbers of 3 that are not finite");
  EXPECT_THROW(require_finite({{"w", torch::tensor({kInfinity})}}, "file"), CheckpointError);
  EXPECT_NO_THROW(require_finite({{"w", torch::tensor({0.0F})}}, "file"));
}

TEST(Weights, AreAveragedInDoubleAndKeepTheirType) {
  // In single precision 2^24 + 1 + 1 is 2^24.
  const std::vector<Weights> models = {
      {{"w", torch::tensor({16777216.0F})}, {"n", torch::tensor({1})}},
      {{"w", torch::tensor({1.0F})}, {"n", torch::tensor({1})}},
      {{"w", torch::tensor({1.0F})}, {"n", torch::tensor({1})}}};
  const auto mean = average(models);
  EXPECT_EQ(mean.at("w").item<double>(), 5592406.0);  // (2^24 + 2) / 3
  EXPECT_EQ(mean.at("w").scalar_type(), torch::kFloat);
  EXPECT_TRUE(torch::equal(mean.at("n"), torch::tensor({1})));
}

}  // namespace
}  // namespace ablate::training
