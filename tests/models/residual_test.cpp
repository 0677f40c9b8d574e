#include "models/residual.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(Norm, RmsDividesByTheRootOfTheMeanSquare) {
  Norm norm(NormOptions{.kind = NormKind::rms}, 2, true);
  const auto y = norm->forward(torch::tensor({{3.0F, 4.0F}}), {});
  EXPECT_NEAR(y[0][0].item<double>(), 3 / std::sqrt(12.5), 1e-5);
  EXPECT_NEAR(y[0][1].item<double>(), 4 / std::sqrt(12.5), 1e-5);
  EXPECT_FALSE(norm->bias.defined());
}

TEST(Norm, InItsPlaceTanhHasATrainedFactorBesideWeightAndBias) {
  Norm norm(NormOptions{.kind = NormKind::tanh, .alpha = 0.25}, 2, true);
  initialize(*norm, 1);
  EXPECT_EQ(norm->alpha.item<double>(), 0.25);
  torch::NoGradGuard no_grad;
  norm->weight.copy_(torch::tensor({3.0F, 5.0F}));
  norm->bias.copy_(torch::tensor({0.0F, 7.0F}));
  const auto y = norm->forward(torch::tensor({{4.0F, -8.0F}}), {});
  EXPECT_NEAR(y[0][0].item<double>(), 3 * std::tanh(1.0), 1e-5);
  EXPECT_NEAR(y[0][1].item<double>(), 7 - 5 * std::tanh(2.0), 1e-5);
}

TEST(BatchNorm, TakesItsStatisticsFromUnpaddedPositionsAndEvaluatesWithRunningOnes) {
  Norm norm(NormOptions{.kind = NormKind::batch}, 1, true);
  const auto x = torch::tensor({{{1.0F}, {3.0F}, {500.0F}}});
  const auto padding_mask = torch::tensor({{true, true, false}});
  const auto y = norm->forward(x, {.training = true, .padding_mask = padding_mask});
  EXPECT_NEAR(y[0][0].item<double>(), -1, 1e-4);
  EXPECT_NEAR(y[0][1].item<double>(), 1, 1e-4);
  const auto buffers = norm->named_buffers();
  EXPECT_NEAR(buffers["running_mean"].item<double>(), 0.2, 1e-6);
  EXPECT_NEAR(buffers["running_variance"].item<double>(), 0.9 + 0.1, 1e-6);
  const auto later = norm->forward(x, {.padding_mask = padding_mask});
  EXPECT_NEAR(later[0][0].item<double>(), 0.8, 1e-4);
  EXPECT_NEAR(norm->named_buffers()["running_mean"].item<double>(), 0.2, 1e-6);
}

TEST(BatchNorm, BreaksCausalityInTrainingAndNotInEvaluation) {
  auto options = tiny();
  options.norm.kind = NormKind::batch;
  auto model = make(options);
  const auto early = [&](std::vector<int64_t> target, const ForwardContext& context) {
    return model->hidden(ids({{5, 6}}), ids({target}), context).hidden.slice(1, 0, 2).detach();
  };
  const ForwardContext training{.training = true}, evaluating;
  EXPECT_GT(largest_difference(early({1, 8, 9, 10}, training), early({1, 8, 11, 12}, training)),
            1e-4);
  EXPECT_EQ(largest_difference(early({1, 8, 9, 10}, evaluating), early({1, 8, 11, 12}, evaluating)),
            0.0);
}

TEST(Skip, ALearnedOneStartsAsThePlainOne) {
  torch::NoGradGuard no_grad;
  auto learned = tiny();
  learned.residual = Skip::learned;
  auto with = make(learned), without = make(tiny());
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  EXPECT_EQ(largest_difference(with->forward(source, target), without->forward(source, target)),
            0.0);
  EXPECT_EQ(parameter_count(*with) - parameter_count(*without), 2 * 2 + 2 * 3);
}

TEST(Skip, WithoutItAnEmptySubLayerLeavesNothing) {
  torch::NoGradGuard no_grad;
  auto options = tiny();
  options.residual = Skip::off;
  options.norm.placement = NormPlacement::pre;
  auto model = make(options);
  for (auto& item : model->named_parameters())
    if (item.key().find("feed_forward.down") != std::string::npos) item.value().zero_();
  const auto output = model->encode(ids({{5, 6, 7}})).output;
  EXPECT_EQ(output.abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace ablate::models
