#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

#include "models/module.h"
#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

using Tensors = std::map<std::string, torch::Tensor>;

Tensors drawn_parameters(const TransformerOptions& options) {
  const auto model = make(options);
  Tensors tensors;
  for (const auto& item : model->named_parameters()) tensors[item.key()] = item.value().detach();
  return tensors;
}

/// What every parameter was registered as, by its full name.
std::map<std::string, Module::Parameter> stated(const Transformer& model) {
  std::map<std::string, Module::Parameter> all;
  const auto add = [&](const torch::nn::Module& module, const std::string& prefix) {
    if (const auto* own = dynamic_cast<const Module*>(&module))
      for (const auto& parameter : own->own_parameters())
        all.emplace(prefix + parameter.name, parameter);
  };
  add(*model, "");
  for (const auto& item : model->named_modules("", /*include_self=*/false))
    add(*item.value(), item.key() + ".");
  return all;
}

bool is_last_of_sub_layer(const std::string& name) {
  for (const auto* end : {"out.weight", "down.weight", "feed_forward.down", "kernel.weight"})
    if (name.ends_with(end)) return true;
  return false;
}

TEST(Initialization, ByDepthDividesWhatIsAddedToTheStreamByTheRootOfTheNumberOfAdditions) {
  auto all = variants("mixtures");
  all.push_back({"base", tiny()});
  for (const auto& more : variants("mixers")) all.push_back(more);
  for (auto& [name, options] : all) {
    const auto plain = drawn_parameters(options);
    options.initialization = XavierInitialization{{.depth = DepthScaling::sqrt}};
    const double attends = name == "no attention" ? 0 : 1;
    for (const auto& [key, tensor] : drawn_parameters(options)) {
      const double additions = 2 * (key.starts_with("encoder") ? 1 + attends : 2 + attends);
      const auto factor = is_last_of_sub_layer(key) ? 1 / std::sqrt(additions) : 1;
      EXPECT_TRUE(torch::allclose(tensor, plain.at(key) * factor, 1e-5)) << name << " " << key;
    }
  }
}

TEST(Initialization, OfDepthZeroMakesLayersReturnTheirInputAtFirst) {
  for (auto [name, options] : variants("mixers")) {
    if (name == "lstm" || !options.decoder.empty()) continue;  // an LSTM has no such projection
    options.layer.norm.placement = NormPlacement::pre;
    options.initialization = NormalInitialization{{.depth = DepthScaling::zero}, 0.1};
    const torch::NoGradGuard no_grad;
    auto deep = make(options);
    options.layers = 1;
    auto shallow = make(options);
    const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
    EXPECT_TRUE(torch::equal(deep->forward(source, target), shallow->forward(source, target)))
        << name;
  }
}

TEST(Initialization, AGainMultipliesTheMatricesOfLayersAlone) {
  auto options = tiny();
  const auto plain = drawn_parameters(options);
  options.initialization = XavierInitialization{.gain = 0.5};
  for (const auto& [key, tensor] : drawn_parameters(options)) {
    const double factor = key == "embedding" || key.find("norm") != std::string::npos ? 1 : 0.5;
    EXPECT_TRUE(torch::allclose(tensor, plain.at(key) * factor, 1e-5)) << key;
  }
}

TEST(Initialization, ByDeepNormMakesAllButQueriesKeysAndGatesSmaller) {
  auto options = tiny("encoder_layers: 3, attention.gate: head");
  const auto plain = drawn_parameters(options);
  options.initialization = XavierInitialization{{.depth = DepthScaling::deepnorm}};
  for (const auto& [key, tensor] : drawn_parameters(options)) {
    const double beta = key.starts_with("encoder") ? 0.87 * std::pow(81.0 * 2, -1.0 / 16)
                                                   : std::pow(12.0 * 2, -0.25);
    auto expected = plain.at(key).clone();
    if (key.ends_with("out.weight") || key.find("feed_forward.") != std::string::npos)
      expected *= beta;
    if (key.ends_with("qkv.weight")) expected.slice(0, 32) *= beta;
    if (key.ends_with("key_value.weight")) expected.slice(0, 16) *= beta;
    EXPECT_TRUE(torch::allclose(tensor, expected, 1e-5)) << key;
  }
  options.family = Family::decoder_only;
  EXPECT_NEAR(stack_of(options, Side::decoder).deepnorm.beta, std::pow(16.0, -0.25), 1e-9);
}

TEST(Initialization, EveryGroupHasAFactorOfItsOwn) {
  for (const auto tying : {Tying::none, Tying::target}) {
    auto options = tiny();
    options.tying = tying;
    const auto plain = drawn_parameters(options);
    options.initialization = XavierInitialization{{.embeddings = 0.5, .output = 3}, 2};
    for (const auto& [key, tensor] : drawn_parameters(options)) {
      const bool vector = key.find("norm") != std::string::npos;
      const double factor = key.ends_with("embedding") ? 0.5 : key == "output" ? 3 : vector ? 1 : 2;
      EXPECT_TRUE(torch::allclose(tensor, plain.at(key) * factor, 1e-5)) << key;
    }
  }
}

TEST(Initialization, NormalDrawsMatricesEmbeddingsAndOutputWithOneDeviation) {
  auto options = tiny(
      "d_model: 128, layers: 1, tying: none, feed_forward: {kind: moe, experts: 2, active: 1, "
      "d_hidden: 64}");
  options.initialization = NormalInitialization{{.depth = DepthScaling::sqrt}, 0.03};
  for (const auto& [key, parameter] : stated(make(options))) {
    if (parameter.role == Role::vector || key.find("router") != std::string::npos) continue;
    const double additions = key.starts_with("encoder") ? 2 : 3;
    const double expected = is_last_of_sub_layer(key) ? 0.03 / std::sqrt(additions) : 0.03;
    EXPECT_NEAR(parameter.tensor.std().item<double>(), expected, 0.1 * expected) << key;
    EXPECT_GT(parameter.tensor.abs().max().item<double>(), 2.5 * expected) << key;
  }
}

/// Of a normal distribution that ends at `cutoff` deviations.
double deviation_within(double cutoff) {
  const double density = std::exp(-cutoff * cutoff / 2) / std::sqrt(2 * std::numbers::pi);
  return std::sqrt(1 - 2 * cutoff * density / std::erf(cutoff / std::numbers::sqrt2));
}

TEST(Initialization, ACutoffBoundsMatricesEmbeddingsAndOutput) {
  auto options = tiny("d_model: 128, layers: 1, tying: none");
  for (const double cutoff : {1.0, 2.0, 3.0}) {
    options.initialization = NormalInitialization{{}, 0.03, cutoff};
    for (const auto& [key, parameter] : stated(make(options, 200))) {
      if (parameter.role == Role::vector) continue;
      const auto& tensor = parameter.tensor;
      const double expected = 0.03 * deviation_within(cutoff);
      EXPECT_NEAR(tensor.std().item<double>(), expected, 0.05 * expected) << key;
      EXPECT_NEAR(tensor.abs().max().item<double>(), 0.03 * cutoff, 0.2 * 0.03) << key;
      EXPECT_LE(tensor.abs().max().item<double>(), 0.03 * cutoff * (1 + 1e-5)) << key;
    }
  }
}

TEST(Initialization, T5DrawsWithADeviationForEachKindOfMatrix) {
  auto options = tiny(
      "d_model: 128, layers: 1, attention: {heads: 2, d_k: 64, d_v: 32}, feed_forward: {kind: moe, "
      "experts: 2, active: 1, d_hidden: 256}");
  options.initialization = T5Initialization{{.depth = DepthScaling::sqrt, .embeddings = 0.5}, 2};
  const auto own = stated(make(options));
  const auto expect_deviation = [&](const std::string& key, double expected, int64_t from = 0) {
    const auto& all = own.at(key).tensor;
    const auto rows =
        all.slice(0, from, from == 0 ? std::min<int64_t>(128, all.size(0)) : all.size(0));
    EXPECT_NEAR(rows.std().item<double>(), expected, 0.05 * expected) << key;
  };
  expect_deviation("embedding", 2 * 0.5);
  expect_deviation("encoder.layers.0.attention.qkv.weight", 2 / std::sqrt(128.0 * 64));  // queries
  expect_deviation("encoder.layers.0.attention.qkv.weight", 2 / std::sqrt(128.0), 128);
  expect_deviation("encoder.layers.0.attention.out.weight", 2 / std::sqrt(64.0 * 2));
  expect_deviation("encoder.layers.0.feed_forward.up", 2 / std::sqrt(128.0));
  expect_deviation("encoder.layers.0.feed_forward.down", 2 / std::sqrt(256.0 * 2));
  expect_deviation("decoder.layers.0.cross_attention.query.weight", 2 / std::sqrt(128.0 * 64));
}

TEST(MaximalUpdate, AtItsBaseWidthIsTheStandardModel) {
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  for (const auto& [name, options] : variants()) {
    if (name == "mup") continue;
    auto mup = options;
    mup.parametrization = MaximalUpdate{.base_width = options.d_model};
    const torch::NoGradGuard no_grad;
    auto one = make(options), other = make(mup);
    EXPECT_TRUE(torch::equal(one->forward(source, target), other->forward(source, target))) << name;
    for (const auto& [key, parameter] : stated(other)) EXPECT_EQ(parameter.width, 1) << key;
  }
}

TEST(MaximalUpdate, OnAWiderModelMatricesLearnSlowerAndEmbeddingsStartAsAtTheBaseWidth) {
  auto options = tiny(
      "d_model: 256, tying: none, position: {kind: learned, max_length: 40}, parametrization: "
      "{kind: mup, base_width: 64}, initialization: {kind: normal, deviation: 0.1}");
  for (const auto& [key, parameter] : stated(make(options))) {
    const bool matrix = is_linear_map(parameter.role);
    EXPECT_EQ(parameter.width, matrix ? 0.25 : 1) << key;
    const auto* normal = std::get_if<Normal>(&parameter.initializer);
    if (parameter.role == Role::vector) continue;
    const double deviation = matrix ? 0.1 / 2 : key.ends_with("table") ? 1 / std::sqrt(64.0) : 0.1;
    EXPECT_DOUBLE_EQ(normal->deviation, deviation) << key;
  }
}

/// Logits of a decoder without layers, which are its scaled embeddings times the output.
torch::Tensor logits_of(const TransformerOptions& options) {
  const torch::NoGradGuard no_grad;
  return make(options)->forward({}, ids({{5, 6}}));
}

TEST(OutputScale, MultipliesLogits) {
  auto options = tiny("family: decoder_only");
  const auto plain = logits_of(options);
  options.output = LmHead{{.scale = 0.25}};
  EXPECT_TRUE(torch::equal(logits_of(options), plain * 0.25));
}

/// Attention probabilities of the first head of the first layer. // [T, T]
torch::Tensor probabilities(Transformer& model) {
  const torch::NoGradGuard no_grad;
  torch::Tensor first;
  const Observer observer{.attention = [&](const torch::Tensor& all) {
    if (!first.defined()) first = all[0][0];
  }};
  model->hidden({}, ids({{5, 6, 7}}), {.observer = &observer});
  return first;
}

TEST(MaximalUpdate, OnAWiderModelScoresOfAttentionAreDividedByDkInsteadOfItsRoot) {
  auto options = tiny("family: decoder_only, attention.heads: 2");
  auto standard = make(options);
  options.parametrization = MaximalUpdate{.base_width = 4};
  auto wide = make(options);
  options.layer.attention = MultiHead{.heads = 2, .d_k = 8};  // heads grow in number instead
  auto fixed = make(options);
  torch::NoGradGuard no_grad;
  for (auto* other : {&wide, &fixed})
    for (auto& item : (*other)->named_parameters())
      item.value().copy_(standard->named_parameters()[item.key()]);
  // Scores become half of what they are, sqrt(4 / 16); embeddings are multiplied by 2 instead of 4.
  standard->named_parameters()["embedding"].mul_(0.5);
  EXPECT_TRUE(torch::allclose(probabilities(fixed), probabilities(standard), 1e-5, 1e-6));
  standard->named_parameters()["decoder.layers.0.attention.qkv.weight"].slice(0, 0, 16).mul_(0.5);
  standard->named_parameters()["decoder.layers.0.attention.qkv.bias"].slice(0, 0, 16).mul_(0.5);
  EXPECT_TRUE(torch::allclose(probabilities(wide), probabilities(standard), 1e-5, 1e-6));
  EXPECT_FALSE(torch::allclose(probabilities(wide), probabilities(fixed), 1e-5, 1e-6));
}

TEST(MaximalUpdate, AGivenOrLearnedScaleOfScoresIsThatOfTheBaseWidth) {
  auto options = tiny("family: decoder_only, attention: {heads: 2, scale: {value: 3}}");
  auto standard = make(options);
  options.parametrization = MaximalUpdate{.base_width = 4};
  auto wide = make(options);
  torch::NoGradGuard no_grad;
  for (auto& item : wide->named_parameters())
    item.value().copy_(standard->named_parameters()[item.key()]);
  standard->named_parameters()["embedding"].mul_(0.5);  // whose factor is 2 instead of 4
  for (const auto* part : {"weight", "bias"})
    standard->named_parameters()["decoder.layers.0.attention.qkv." + std::string(part)]
        .slice(0, 0, 16)
        .mul_(0.25);
  EXPECT_TRUE(torch::allclose(probabilities(wide), probabilities(standard), 1e-5, 1e-6));
  for (const auto& value : {std::optional<double>(), std::optional<double>(3)}) {
    options.layer.attention = MultiHead{.heads = 2, .scale = {.value = value, .learned = true}};
    auto learned = make(options);
    const auto scale = learned->named_parameters()["decoder.layers.0.attention.scale"];
    EXPECT_NEAR(scale[0].item<double>(), value.value_or(1 / std::sqrt(2.0)), 1e-6);
    if (!value) continue;
    for (auto& item : wide->named_parameters())
      learned->named_parameters()[item.key()].copy_(item.value());
    EXPECT_TRUE(torch::allclose(probabilities(learned), probabilities(wide), 1e-5, 1e-6));
  }
}

}  // namespace
}  // namespace ablate::models
