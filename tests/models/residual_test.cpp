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

TEST(BatchNorm, AFrozenOneNormalisesByItsMomentsAndKeepsThem) {
  Norm norm(NormOptions{.kind = NormKind::batch}, 1, true);
  norm->weight.set_requires_grad(false);
  const auto x = torch::tensor({{{1.0F}, {3.0F}}});
  EXPECT_TRUE(torch::allclose(norm->forward(x, {.training = true}), x, 1e-4));
  EXPECT_EQ(norm->named_buffers()["running_mean"].item<double>(), 0);
  EXPECT_EQ(norm->named_buffers()["running_variance"].item<double>(), 1);
}

TEST(BatchNorm, BreaksCausalityInTrainingAndNotInEvaluation) {
  auto options = tiny("norm.kind: batch");
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

TEST(BatchNorm, BehindTheOutputsTransformTakesItsStatisticsFromTheBatchToo) {
  for (const auto* family : {"encoder_decoder", "decoder_only", "encoder_only"}) {
    auto model =
        make(tiny("norm.kind: batch, output: {transform: gelu}", std::string("family: ") + family));
    const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
    const auto y = model->hidden(source, target, {.training = true}).hidden;
    EXPECT_LT(y.mean(at::IntArrayRef{0, 1}).abs().max().item<double>(), 1e-5) << family;
    const auto moments = model->named_buffers();
    EXPECT_GT(moments["transform.norm.running_mean"].abs().max().item<double>(), 1e-3) << family;
    EXPECT_NE(moments["transform.norm.running_variance"].max().item<double>(), 1.0) << family;
  }
}

TEST(Residual, ATrainedFactorOfOneIsNoneAtFirst) {
  torch::NoGradGuard no_grad;
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  auto plain = make(tiny());
  const auto expect = [&](FactorPer per, int64_t each) {
    auto learned = tiny();
    learned.layer.residual.per = per;
    auto with = make(learned);
    EXPECT_EQ(largest_difference(with->forward(source, target), plain->forward(source, target)),
              0.0);
    EXPECT_EQ(parameter_count(*with) - parameter_count(*plain), (2 * 2 + 2 * 3) * each);
  };
  expect(FactorPer::layer, 1);
  expect(FactorPer::channel, 16);
}

TEST(Norm, LayerNormScalingDividesWhatLayerLReadsByTheRootOfL) {
  Module scaled_owner, plain_owner;
  auto options = tiny("family: decoder_only, layers: 4, norm.placement: pre");
  const auto stack = stack_of(options, Side::decoder);
  auto scaled = options.layer.norm;
  scaled.layernorm_scaling = true;
  for (int64_t layer = 0; layer < 4; ++layer) {
    const auto name = "part" + std::to_string(layer);
    ResidualConnection one(scaled_owner, name, scaled, {stack, layer});
    ResidualConnection other(plain_owner, name, options.layer.norm, {stack, layer});
    initialize(scaled_owner, 1);
    initialize(plain_owner, 1);
    const auto x = torch::arange(16.0F).view({1, 1, 16});
    EXPECT_LT(largest_difference(one.enter(x, {}) * std::sqrt(static_cast<double>(layer + 1)),
                                 other.enter(x, {})),
              1e-6)
        << layer;
  }
}

TEST(Residual, WithoutASkipAnEmptySubLayerLeavesNothing) {
  torch::NoGradGuard no_grad;
  auto options = tiny("residual.skip: false, norm.placement: pre");
  auto model = make(options);
  for (auto& item : model->named_parameters())
    if (item.key().find("feed_forward.down") != std::string::npos) item.value().zero_();
  const auto output = model->encode(ids({{5, 6, 7}})).output;
  EXPECT_EQ(output.abs().max().item<double>(), 0.0);
}

/// Of a sub-layer in layer 1 of 4, without norms.
ResidualConnection connection_of(Module& owner, const ResidualOptions& residual) {
  auto options = tiny("family: decoder_only, layers: 4, norm.kind: none");
  options.layer.residual = residual;
  ResidualConnection connection(owner, "part", options.layer.norm,
                                {stack_of(options, Side::decoder), 1});
  initialize(owner, 1);
  return connection;
}

/// What joins x = 1 and a sub-layer that gives 10.
torch::Tensor joined(const ResidualOptions& residual, const ForwardContext& context = {},
                     int64_t rows = 1) {
  Module owner;
  auto connection = connection_of(owner, residual);
  torch::NoGradGuard no_grad;
  const auto x = torch::ones({rows, 2, 16});
  return connection.join(x, x * 10, context);
}

TEST(Residual, FactorsMultiplyWhatTheSubLayerGives) {
  const auto expect = [](const ResidualOptions& residual, double sum) {
    EXPECT_LT(largest_difference(joined(residual), torch::full({1, 2, 16}, sum)), 1e-5);
  };
  expect({}, 11);
  expect({.start = 0.5}, 6);
  expect({.start = 0, .per = FactorPer::layer}, 1);
  expect({.start = 0.2, .per = FactorPer::channel}, 3);
  expect({.skip = false, .start = 0.5}, 5);
  expect({.depth = ResidualDepth::sqrt}, 1 + 10 / std::sqrt(8.0));  // 4 layers of 2 sub-layers
}

TEST(Residual, DeepNormMultipliesTheInputByTheFactorOfThePaper) {
  auto options = tiny("encoder_layers: 6, decoder_layers: 18");
  EXPECT_NEAR(stack_of(options, Side::encoder).deepnorm.alpha,
              0.81 * std::pow(1296.0 * 18, 1.0 / 16), 1e-9);
  EXPECT_NEAR(stack_of(options, Side::decoder).deepnorm.alpha, std::pow(54.0, 0.25), 1e-9);
  options.family = Family::decoder_only;
  EXPECT_NEAR(stack_of(options, Side::decoder).deepnorm.alpha, std::pow(36.0, 0.25), 1e-9);
  EXPECT_LT(largest_difference(joined({.depth = ResidualDepth::deepnorm}),
                               torch::full({1, 2, 16}, std::pow(8.0, 0.25) + 10)),
            1e-5);
}

TEST(Residual, DropoutLeavesOutElementsOfWhatTheSubLayerGivesAlone) {
  constexpr int64_t kRows = 1000;
  for (const bool skip : {true, false}) {
    const auto sums = joined({.skip = skip}, {.training = true, .dropout = 0.25, .seed = 3}, kRows);
    const auto given = sums - (skip ? 1 : 0), dropped = given.eq(0);  // [rows, 2, 16]
    EXPECT_TRUE(dropped.logical_or((given - 10 / 0.75).abs().lt(1e-4)).all().item<bool>());
    EXPECT_NEAR(dropped.to(torch::kDouble).mean().item<double>(), 0.25,
                5 * std::sqrt(0.25 * 0.75 / (kRows * 32)));
    EXPECT_FALSE(dropped.all(-1).any().item<bool>()) << "a whole position";
  }
}

TEST(StochasticDepth, DropsWholeSequencesByTheLayerAndEvaluatesWithAll) {
  constexpr int64_t kRows = 4000;
  const ResidualOptions residual{.drop = 0.5};  // in layer 1 of 4, from 0 on: half of it
  const auto sums = joined(residual, {.training = true, .seed = 3}, kRows);
  const auto skips = sums.eq(1), stays = (sums - (1 + 10 / 0.75)).abs().lt(1e-4);
  EXPECT_TRUE(skips.logical_or(stays).all().item<bool>());
  EXPECT_TRUE(torch::equal(skips.all(-1).all(-1), skips.any(-1).any(-1)));
  const auto share = skips.all(-1).all(-1).to(torch::kDouble).mean().item<double>();
  EXPECT_NEAR(share, 0.25, 4 * std::sqrt(0.25 * 0.75 / kRows));
  EXPECT_EQ(largest_difference(joined(residual), torch::full({1, 2, 16}, 11.0)), 0.0);
}

TEST(StochasticDepth, ADroppedSequenceGivesItsSubLayerNoGradientInEitherPrecision) {
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    Module owner;
    auto connection = connection_of(owner, {.drop = 0.5});
    const auto x = torch::ones({200, 2, 16}, type);
    const auto branch = torch::full_like(x, 10).requires_grad_();
    const auto sums = connection.join(x, branch, {.training = true, .seed = 3});
    EXPECT_EQ(sums.scalar_type(), type);
    sums.sum().backward();
    const auto skips = sums.detach().eq(1);
    EXPECT_TRUE(skips.any().item<bool>());
    EXPECT_TRUE(torch::equal(branch.grad().eq(0), skips));
    const auto kept = branch.grad().masked_select(skips.logical_not()).to(torch::kFloat);
    EXPECT_LT(largest_difference(kept, torch::full_like(kept, 1 / 0.75)), 0.01);
  }
}

}  // namespace
}  // namespace ablate::models
