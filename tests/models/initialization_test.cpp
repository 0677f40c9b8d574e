#include "models/initialization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

Transformer drawn(const TransformerOptions& options, uint64_t seed) {
  Transformer model(options, Vocabulary{20, 20, kPad});
  initialize(*model, seed);
  return model;
}

/// Parameters and buffers of floating point by their names.
std::map<std::string, torch::Tensor> tensors_of(const Transformer& model) {
  std::map<std::string, torch::Tensor> tensors;
  for (const auto& item : model->named_parameters()) tensors[item.key()] = item.value();
  for (const auto& item : model->named_buffers())
    if (item.value().is_floating_point()) tensors[item.key()] = item.value();
  return tensors;
}

TEST(Initialize, ModelsOfOneSeedShareEveryTensorWhoseNameAndShapeTheyShare) {
  const auto baseline = tensors_of(drawn(tiny(), 7));
  for (const auto& [name, options] : variants()) {
    if (name == "mup" || name == "deepnorm") continue;  // which have other distributions
    int64_t shared = 0;
    for (const auto& [key, tensor] : tensors_of(drawn(options, 7))) {
      const auto found = baseline.find(key);
      if (found == baseline.end() || found->second.sizes() != tensor.sizes()) continue;
      EXPECT_TRUE(torch::equal(found->second, tensor)) << name << " " << key;
      ++shared;
    }
    EXPECT_GT(shared, 0) << name;
  }
}

TEST(Initialize, OtherSeedsAndOtherNamesGiveOtherNumbers) {
  for (const auto& [name, options] : variants()) {
    const auto first = tensors_of(drawn(options, 7)), second = tensors_of(drawn(options, 8));
    std::map<double, std::string> means;
    for (const auto& [key, tensor] : first) {
      EXPECT_TRUE(tensor.isfinite().all().item<bool>()) << name << " " << key;
      if (key.ends_with("slopes") || key.ends_with("log_kept")) continue;  // fixed
      if (tensor.numel() < 2 || tensor.eq(tensor.flatten()[0]).all().item<bool>()) continue;
      const auto mean = tensor.mean().item<double>();
      EXPECT_TRUE(means.emplace(mean, key).second) << name << " " << key << " " << means[mean];
      EXPECT_FALSE(torch::equal(tensor, second.at(key))) << name << " " << key;
    }
  }
}

TEST(Initialize, NeitherItNorAPassTouchesTheAmbientGenerator) {
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  for (const auto& [name, options] : variants()) {
    torch::manual_seed(1);
    const auto expected = torch::rand({4});
    torch::manual_seed(1);
    auto model = drawn(options, 7);
    model->hidden(source, target, {.training = true, .dropout = 0.5, .seed = 3})
        .hidden.sum()
        .backward();
    EXPECT_TRUE(torch::equal(torch::rand({4}), expected)) << name;
  }
}

TEST(Initialize, WithoutItAModelComputesNothingFinite) {
  const torch::NoGradGuard no_grad;
  Transformer model(tiny(), Vocabulary{20, 20, kPad});
  EXPECT_TRUE(model->forward(ids({{5, 6}}), ids({{1, 8}})).isnan().all().item<bool>());
}

TEST(Initialize, RefusesAParameterWithoutADistribution) {
  struct Foreign : torch::nn::Module {
    Foreign() { register_parameter("weight", torch::zeros({2})); }
  };
  EXPECT_THROW(initialize(Foreign(), 1), c10::Error);
}

torch::Tensor filled(const Initializer& initializer, torch::IntArrayRef shape) {
  const auto tensor = torch::empty(shape);
  fill(tensor, initializer, 5);
  return tensor;
}

TEST(Fill, DrawsFromTheStatedDistribution) {
  constexpr int64_t kCount = 400;
  const double error = 5 / static_cast<double>(kCount);  // of a mean, in standard deviations
  const auto normal = filled(Normal{.deviation = 0.5}, {kCount, kCount});
  EXPECT_NEAR(normal.mean().item<double>(), 0, 0.5 * error);
  EXPECT_NEAR(normal.std().item<double>(), 0.5, 0.5 * error);
  const auto cut = filled(TruncatedNormal{.deviation = 0.5}, {kCount, kCount});
  EXPECT_LE(cut.abs().max().item<double>(), 1.0);
  // A normal distribution cut at two deviations keeps 0.8796 of its deviation.
  EXPECT_NEAR(cut.std().item<double>(), 0.5 * 0.8796, 0.5 * error);
  const auto uniform = filled(Uniform::within(3), {kCount, kCount});
  EXPECT_LE(uniform.abs().max().item<double>(), 3.0);
  EXPECT_NEAR(uniform.std().item<double>(), std::sqrt(3.0), error);
  const auto range = filled(Uniform{.low = 2, .high = 5}, {kCount, kCount});
  EXPECT_GE(range.min().item<double>(), 2);
  EXPECT_LE(range.max().item<double>(), 5);
  EXPECT_NEAR(range.mean().item<double>(), 3.5, error);
  EXPECT_TRUE(filled(Constant{2.5}, {3}).eq(2.5).all().item<bool>());
  const auto positive = torch::softplus(filled(UniformSoftplus{}, {kCount, kCount}));
  EXPECT_GE(positive.min().item<double>(), 0.01 - 1e-4);
  EXPECT_NEAR(positive.mean().item<double>(), 0.505, error);
  const auto even = filled(UniformExponential{.low = 1, .high = 4}, {kCount, kCount}).exp();
  EXPECT_GE(even.min().item<double>(), 1 - 1e-4);
  EXPECT_LE(even.max().item<double>(), 4 + 1e-4);
  EXPECT_NEAR(even.mean().item<double>(), 2.5, error);
}

TEST(Fill, XavierDrawsEachMatrixByItsOwnBound) {
  const auto both = filled(XavierUniform{.rows = {20, 380}}, {400, 100});
  const auto check = [](const torch::Tensor& part, double bound) {
    EXPECT_LE(part.abs().max().item<double>(), bound);
    EXPECT_NEAR(part.std().item<double>(), bound / std::sqrt(3.0), 0.03 * bound);
  };
  check(both.slice(0, 0, 20), std::sqrt(6.0 / 120));
  check(both.slice(0, 20), std::sqrt(6.0 / 480));
  EXPECT_THROW(filled(XavierUniform{.rows = {20}}, {400, 100}), c10::Error);
}

}  // namespace
}  // namespace ablate::models
