#include "models/inference/inference_model.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

torch::Tensor some_source() { return ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}, {3, 2, 0, 0, 0}}); }
torch::Tensor some_target() { return ids({{1, 4, 5}, {1, 6, 7}, {1, 8, 9}}); }

/// Largest logit, at least 1.
double scale_of(const torch::Tensor& logits) {
  return std::max(1.0, logits.abs().max().item<double>());
}

/// Steps and inference models use kernels that training does not.
TEST(InferenceModel, OfEveryVariantGivesTheTrainedModelsLogitsAtOnceAndStepByStep) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants()) {
    SCOPED_TRACE(name);
    auto trained = moved(options);
    const InferenceModel model(trained);
    const auto logits = trained->forward(some_source(), some_target());
    const auto close = 1e-5 * scale_of(logits);
    EXPECT_LT(largest_difference(model.forward(some_source(), some_target()), logits), close);
    auto cache = model.prefill(some_source());
    for (int64_t t = 0; t < some_target().size(1); ++t)
      EXPECT_LT(
          largest_difference(model.step(some_target().select(1, t), cache), logits.select(1, t)),
          10 * close);
  }
}

/// Rounding may send a token to another expert, so mixtures are left out.
TEST(InferenceModel, OfEveryVariantGivesInBfloat16TheSameAtOnceAndStepByStep) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants()) {
    if (name.starts_with("experts")) continue;
    SCOPED_TRACE(name);
    auto trained = make(options);
    const InferenceModel model(trained, WeightDtype::bf16);
    const auto logits = model.forward(some_source(), some_target());
    const auto exact = trained->forward(some_source(), some_target());
    EXPECT_LT(largest_difference(logits, exact), 0.02 * scale_of(exact));
    EXPECT_GT(largest_difference(logits, exact), 0.0);
    auto cache = model.prefill(some_source());
    for (int64_t t = 0; t < some_target().size(1); ++t) {
      const auto step = model.step(some_target().select(1, t), cache);
      EXPECT_LT(largest_difference(step, logits.select(1, t)), 0.01 * scale_of(logits));
    }
  }
}

TEST(InferenceModel, DoesNotFollowFurtherTraining) {
  for (const auto& [name, options] : variants("mixtures")) {
    SCOPED_TRACE(name);
    auto trained = moved(options);
    for (const auto dtype : {WeightDtype::fp32, WeightDtype::bf16}) {
      const InferenceModel model(trained, dtype);
      const auto before = model.forward(some_source(), some_target());
      const torch::NoGradGuard no_grad;
      for (auto& parameter : trained->parameters())
        parameter.add_(torch::randn_like(parameter) * 0.1);
      EXPECT_TRUE(torch::equal(model.forward(some_source(), some_target()), before));
      EXPECT_FALSE(torch::equal(trained->forward(some_source(), some_target()), before));
    }
  }
}

TEST(InferenceModel, LeavesTheTrainedModelAsItIs) {
  auto trained = make({.d_model = 16});
  const auto logits = trained->forward(some_source(), some_target());
  const InferenceModel model(trained, WeightDtype::bf16);
  EXPECT_TRUE(torch::equal(trained->forward(some_source(), some_target()), logits));
  for (const auto& parameter : trained->parameters()) EXPECT_TRUE(parameter.requires_grad());
}

TEST(InferenceModel, RecordsNoGradients) {
  auto trained = make({.d_model = 16});
  EXPECT_FALSE(InferenceModel(trained).forward(some_source(), some_target()).requires_grad());
}

TEST(InferenceModel, NoDtypeIsSilentlyIgnoredOnAnyDevice) {
  for (const auto& [dtype, name] : names(WeightDtype{}))
    EXPECT_EQ(layout_of(torch::kCPU, dtype), WeightLayout::packed) << name;
  EXPECT_EQ(layout_of(torch::kCUDA, WeightDtype::fp32), WeightLayout::dense);
  EXPECT_EQ(layout_of(torch::kCUDA, WeightDtype::bf16), WeightLayout::cast);
}

/// What a device that casts gets.
TEST(InferenceModel, CastingKeepsTheScoresOfRoutersInFloat) {
  auto model = make(
      {.d_model = 16, .layer = {.feed_forward = MixtureOptions{.experts = 4, .d_hidden = 12}}});
  cast_weights(*model, torch::kBFloat16);
  int64_t routers = 0;
  for (const auto& item : model->named_parameters()) {
    const bool router = item.key().find(".router.") != std::string::npos;
    routers += router;
    EXPECT_EQ(item.value().scalar_type(), router ? torch::kFloat : torch::kBFloat16) << item.key();
  }
  EXPECT_GT(routers, 0);
}

}  // namespace
}  // namespace ablate::models
