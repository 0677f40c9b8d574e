#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/feed_forward/feed_forward.h"
#include "models/generator.h"
#include "training/device.h"
#include "training/optimizer_rules.h"

namespace ablate::training {
namespace {

torch::Tensor normal(torch::IntArrayRef shape) {
  return torch::empty(shape, torch::kDouble).normal_(0, 1, models::seeded_generator(3));
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

/// What five steps of the first iteration make of a singular value of a matrix whose norm is 1.
torch::Tensor iterated(torch::Tensor value) {
  for (int i = 0; i < 5; ++i)
    value = 3.4445 * value - 4.7750 * value.pow(3) + 2.0315 * value.pow(5);
  return value;
}

TEST(Orthogonalized, ChangesSingularValuesByThePolynomialAndNothingElse) {
  for (const auto& shape : {std::vector<int64_t>{2, 5, 5}, {2, 3, 8}, {2, 8, 3}, {1, 1, 4}}) {
    const auto matrices = normal(shape);
    const auto [u, s, v] = at::linalg_svd(matrices, /*full_matrices=*/false);
    const auto unit = s / s.square().sum(-1, /*keepdim=*/true).sqrt();
    const auto expected = u.matmul(iterated(unit).diag_embed()).matmul(v);
    EXPECT_LT(difference(orthogonalized(matrices), expected), 1e-10) << shape;
  }
}

TEST(Orthogonalized, SingularValuesEndNearOne) {
  const auto matrix = normal({1, 64, 256}).to(torch::kFloat);
  const auto s = at::linalg_svdvals(orthogonalized(matrix));
  EXPECT_GT(s.min().item<double>(), 0.65);
  EXPECT_LT(s.max().item<double>(), 1.25);
}

TEST(Orthogonalized, PolarExpressBringsSingularValuesFromAThousandthOnCloserToOne) {
  const auto [u, s, v] = at::linalg_svd(normal({1, 32, 32}));
  const auto values = torch::logspace(-3, 0, 32, 10.0, torch::kDouble);
  const auto matrix = u.matmul(values.diag_embed()).matmul(v);
  const auto scaled = matrix / at::linalg_vector_norm(matrix, 2, at::IntArrayRef{1, 2}, true);
  const auto ended = at::linalg_svdvals(orthogonalized(scaled, MuonCoefficients::polar_express));
  const auto far = [](const torch::Tensor& x) { return (x - 1).abs().mean().item<double>(); };
  EXPECT_LT(ended.max().item<double>(), 1.15);
  EXPECT_GT(ended.slice(1, 0, 28).min().item<double>(), 0.84);
  EXPECT_LT(far(ended), 0.8 * far(at::linalg_svdvals(orthogonalized(scaled))));
}

TEST(Orthogonalized, ZerosStay) {
  EXPECT_TRUE(torch::equal(orthogonalized(torch::zeros({1, 3, 4})), torch::zeros({1, 3, 4})));
}

/// The step of one matrix, outputs by inputs.
torch::Tensor step_of(const torch::Tensor& direction, double scale) {
  return -0.1 * scale * orthogonalized(direction.unsqueeze(0)).squeeze(0);
}

/// What an update at this rate, without momentum, makes of a parameter of zeros.
template <class Options, size_t N>
torch::Tensor updated(Options options, double rate, Group<N> group) {
  options.momentum = 0;
  options.nesterov = false;
  group.parameters = {torch::zeros_like(group.gradients[0])};
  group.kept[0] = {torch::zeros_like(group.gradients[0])};
  Rule<Options>::update(options, {.learning_rate = rate, .rate = 1, .decays = false}, group);
  return group.parameters[0];
}

torch::Tensor moved(const torch::Tensor& direction, const models::Maps& maps, MuonScale scale) {
  return updated(Muon{.scale = scale}, 0.1, Group<1>{.gradients = {direction}, .maps = {&maps}});
}

TEST(OrthogonalSteps, AreThoseOfEveryMapByItself) {
  const auto packed = normal({9, 4});  // three maps, of which two are alike
  const auto step = moved(packed, {.rows = {3, 2, 4}}, MuonScale::match_rms_adamw);
  EXPECT_LT(difference(step.slice(0, 0, 3), step_of(packed.slice(0, 0, 3), 0.2 * 2)), 1e-12);
  EXPECT_LT(difference(step.slice(0, 3, 5), step_of(packed.slice(0, 3, 5), 0.2 * 2)), 1e-12);
  EXPECT_LT(difference(step.slice(0, 5), step_of(packed.slice(0, 5), 0.2 * 2)), 1e-12);
}

TEST(OrthogonalSteps, ScaleByOutputsAndInputsWhicheverIsStoredFirst) {
  const auto tall = normal({8, 2}), wide = normal({2, 8});
  const models::Maps eight{.rows = {8}}, two{.rows = {2}}, turned{.rows = {2}, .transposed = true};
  EXPECT_LT(difference(moved(tall, eight, MuonScale::original), step_of(tall, 2)), 1e-12);
  EXPECT_LT(difference(moved(wide, two, MuonScale::original), step_of(wide, 1)), 1e-12);
  EXPECT_LT(difference(moved(wide, turned, MuonScale::original), step_of(wide.t(), 2).t()), 1e-12);
}

TEST(OrthogonalSteps, OfMatchingSizeHaveARootMeanSquareOfAFifth) {
  const auto step = moved(normal({16, 64}), {.rows = {16}}, MuonScale::match_rms_adamw);
  EXPECT_NEAR(step.square().mean().sqrt().item<double>(), 0.1 * 0.2, 0.1 * 0.2 * 0.15);
}

TEST(OrthogonalSteps, InBfloat16AreNearlyThoseInFloat) {
  const auto direction = normal({64, 256}).to(torch::kFloat);
  const models::Maps maps{.rows = {64}};
  const auto step = [&](MuonPrecision precision) {
    return updated(Muon{.precision = precision}, 1,
                   Group<1>{.gradients = {direction}, .maps = {&maps}});
  };
  const auto exact = step(MuonPrecision::fp32), rounded = step(MuonPrecision::bf16);
  EXPECT_EQ(rounded.scalar_type(), torch::kFloat);
  const double error = (rounded - exact).norm().item<double>() / exact.norm().item<double>();
  EXPECT_EQ(error > 0, has_products(Precision::bf16, torch::kCPU));
  EXPECT_LT(error, 0.02);
}

TEST(OrthogonalSteps, SeeEveryExpertAndEveryPartOfAMixture) {
  models::Mixture mixture(
      {.experts = 3,
       .active = 2,
       .d_hidden = 5,
       .activation = models::Activation::silu,
       .gated = true},
      {.d_model = 4, .causal = false, .layers = std::vector<models::LayerOptions>(1), .depth = 1});
  for (const auto& parameter : mixture.own_parameters()) {
    if (parameter.role != models::Role::matrix) continue;
    const bool down = parameter.name == "down";
    EXPECT_EQ(parameter.maps.transposed, down);
    const auto direction = normal(parameter.tensor.sizes());
    const auto step = moved(direction, parameter.maps, MuonScale::original);
    const auto one = direction[1].slice(0, 0, 5), there = step[1].slice(0, 0, 5);
    const auto expected = down ? step_of(one.t(), 1).t() : step_of(one, std::sqrt(5.0 / 4));
    EXPECT_LT(difference(there, expected), 1e-12) << parameter.name;
  }
}

/// A step from zero with even rows, after running means of squares that are all `squares`.
torch::Tensor even_step(const torch::Tensor& direction, const models::Maps& maps,
                        const torch::Tensor& squares, double decay) {
  NorMuon options;
  options.row_decay = decay;
  return updated(
      options, 1,
      Group<2>{.gradients = {direction}, .maps = {&maps}, .kept = {TensorVector{}, {squares}}});
}

TEST(EvenRows, HaveOneSizeAndTheNormOfAnOrthogonalMatrix) {
  const auto tall = normal({8, 2}) * torch::logspace(-1, 1, 8, 10.0, torch::kDouble).unsqueeze(1);
  const auto squares = torch::zeros(8, torch::kDouble);
  const auto sizes = even_step(tall, {.rows = {8}}, squares, 0.9).square().mean(1).sqrt();
  EXPECT_LT(difference(sizes, torch::full_like(sizes, 0.2)), 1e-6);
  const auto orthogonal = orthogonalized(tall.unsqueeze(0))[0];
  EXPECT_LT(difference(squares, 0.1 * orthogonal.square().mean(1)), 1e-12);
  EXPECT_GT(orthogonal.square().mean(1).max().item<double>(),
            4 * orthogonal.square().mean(1).min().item<double>());
}

TEST(EvenRows, AreDividedByTheirUsualSizesAndNotByTheLastAlone) {
  const auto direction = normal({4, 6});
  const auto squares = torch::tensor({1, 1, 4, 4}, torch::kDouble);
  const auto step = even_step(direction, {.rows = {4}}, squares, 1 - 1e-9);
  const auto orthogonal = orthogonalized(direction.unsqueeze(0))[0];
  const auto ratio = (step / -orthogonal).mean(1);  // of each row
  EXPECT_NEAR(ratio[0].item<double>(), 2 * ratio[2].item<double>(), 1e-6);
  EXPECT_NEAR(ratio[1].item<double>(), 2 * ratio[3].item<double>(), 1e-6);
}

TEST(EvenRows, AreThoseOfOutputsOfEveryMapByItself) {
  const auto packed = normal({5, 4});
  const auto squares = torch::zeros(5, torch::kDouble), turned = torch::zeros(8, torch::kDouble);
  const auto step = even_step(packed, {.rows = {3, 2}}, squares, 0.5);
  const auto first = torch::zeros(3, torch::kDouble), second = torch::zeros(2, torch::kDouble);
  EXPECT_LT(
      difference(step.slice(0, 0, 3), even_step(packed.slice(0, 0, 3), {.rows = {3}}, first, 0.5)),
      1e-12);
  EXPECT_LT(difference(step.slice(0, 3), even_step(packed.slice(0, 3), {.rows = {2}}, second, 0.5)),
            1e-12);
  EXPECT_LT(difference(squares, torch::cat({first, second})), 1e-12);
  // Stored the other way round, the columns are the outputs.
  const auto columns = even_step(packed, {.rows = {3, 2}, .transposed = true}, turned, 0.5);
  const auto outputs = torch::zeros(4, torch::kDouble);
  EXPECT_LT(difference(columns.slice(0, 0, 3),
                       even_step(packed.slice(0, 0, 3).t(), {.rows = {4}}, outputs, 0.5).t()),
            1e-12);
  EXPECT_LT(difference(turned.slice(0, 0, 4), outputs), 1e-12);
}

}  // namespace
}  // namespace ablate::training
