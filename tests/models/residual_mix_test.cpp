#include "models/stack/residual_mix.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TransformerOptions pre_norm(const ResidualMixOptions& mix) {
  auto options = tiny("norm.placement: pre");
  options.residual_mix = mix;
  return options;
}

torch::Tensor logits(Transformer& model) {
  return model->forward(ids({{5, 6, 7, 2}}), ids({{1, 8, 9}}));
}

std::shared_ptr<ResidualMix> mix_of(const ResidualMixOptions& mix) {
  auto made = make_residual_mix(stack_of(pre_norm(mix), Side::decoder));
  initialize(*made, 1);
  return made;
}

TEST(ResidualMix, DenseAndUnlimitedOnesStartAsThePlainModel) {
  const torch::NoGradGuard no_grad;
  auto plain = make(pre_norm(NoMix{}));
  auto dense = make(pre_norm(DenseMix{}));
  EXPECT_LT(largest_difference(logits(dense), logits(plain)), 1e-5);
  auto hyper = make(pre_norm(HyperMix{.streams = 3, .manifold = false}));
  EXPECT_LT(largest_difference(logits(hyper), logits(plain)), 1e-5);
}

TEST(ResidualMix, VectorsThatPositionsAddLaterStayInTheStreams) {
  const torch::NoGradGuard no_grad;
  for (const std::string keys :
       {"position.every_layer: true",
        "layers: 3, changes: [{ at: [2, 3], position: { kind: learned, max_length: 40 } }]"}) {
    auto options = tiny("norm.placement: pre", keys);
    auto plain = make(options);
    options.residual_mix = HyperMix{.streams = 3, .manifold = false};
    auto hyper = make(options);
    EXPECT_LT(largest_difference(logits(hyper), logits(plain)), 1e-4) << keys;
  }
}

TEST(ResidualMix, DenseReadsTheWeightedSumOfAllOutputs) {
  const torch::NoGradGuard no_grad;
  const auto mix = mix_of(DenseMix{});
  mix->named_parameters()["change_2"].copy_(torch::tensor({2.0F, 3.0F, 4.0F}));
  const auto one = torch::ones({1, 1, 16});
  auto stream = mix->start(one);
  mix->write(stream, one, 10 * one);
  EXPECT_TRUE(torch::equal(mix->read(stream, 1), 10 * one)) << "the weights of the first are 0, 1";
  mix->write(stream, one, 100 * one);
  EXPECT_TRUE(torch::equal(mix->read(stream, 2), (2 + 30 + 400 + 100) * one));
}

TEST(ResidualMix, AttentionStartsAtTheMeanOfWhatWasAddedAndFollowsItsQuery) {
  const torch::NoGradGuard no_grad;
  const auto mix = mix_of(AttentionMix{});
  const auto axis = torch::eye(16).unsqueeze(0);  // row i points along i
  const auto embedding = 100 * axis.narrow(1, 0, 1), added = 500 * axis.narrow(1, 1, 1);
  const auto mean = (embedding + added) / 2;
  auto stream = mix->start(embedding);
  mix->write(stream, embedding, embedding + added);
  EXPECT_LT(largest_difference(mix->read(stream, 1), mean), 1e-4);
  const auto query = mix->named_parameters()["query_1"];
  query.copy_(axis[0][0] + axis[0][1]);
  EXPECT_LT(largest_difference(mix->read(stream, 1), mean), 1e-3)
      << "the direction counts, not the length";
  query.copy_(100 * axis[0][1]);
  EXPECT_LT(largest_difference(mix->read(stream, 1), added), 1e-4);
}

TEST(ResidualMix, AttentionsScoresOnAWiderModelAreDividedByTheFactorOfTheWidth) {
  const torch::NoGradGuard no_grad;
  auto options = pre_norm(AttentionMix{});
  options.parametrization = MaximalUpdate{.base_width = 4};  // the model is four times as wide
  const auto wide = make_residual_mix(stack_of(options, Side::decoder));
  const auto standard = mix_of(AttentionMix{});
  const auto axis = torch::eye(16).unsqueeze(0);
  const auto embedding = axis.narrow(1, 0, 1), added = axis.narrow(1, 1, 1);
  const auto read = [&](const ResidualMix& mix, double query) {
    mix.named_parameters()["query_1"].copy_(query * axis[0][1]);
    auto stream = mix.start(embedding);
    mix.write(stream, embedding, embedding + added);
    return mix.read(stream, 1);
  };
  EXPECT_LT(largest_difference(read(*wide, 1), read(*standard, 0.25)), 1e-6);
  EXPECT_GT(largest_difference(read(*wide, 1), read(*standard, 1)), 0.1);
}

TEST(ResidualMix, OnTheManifoldMixingKeepsTheMeanOfTheStreams) {
  const torch::NoGradGuard no_grad;
  const auto mix = mix_of(HyperMix{.streams = 4});
  torch::manual_seed(1);
  for (auto& item : mix->named_parameters()) item.value().normal_(0, 0.3);
  const auto x = torch::randn({2, 3, 16});
  auto stream = mix->start(x);
  stream.streams = torch::randn({2, 3, 4, 16});
  const auto before = stream.streams.mean(2);
  const auto input = mix->read(stream, 0);
  EXPECT_LT(largest_difference(stream.mixing.sum(-1), torch::ones({1})), 1e-5);
  EXPECT_LT(largest_difference(stream.mixing.sum(-2), torch::ones({1})), 0.02) << "20 rounds";
  EXPECT_GT(stream.mixing.min().item<double>(), 0);
  mix->write(stream, input, input);  // a layer that adds nothing
  EXPECT_LT(largest_difference(stream.streams.mean(2), before), 0.02);
}

TEST(ResidualMix, OffTheManifoldTheWeightsOfAStreamDependOnThisStreamAlone) {
  const torch::NoGradGuard no_grad;
  const auto mix = mix_of(HyperMix{.streams = 2, .manifold = false});
  torch::manual_seed(1);
  auto parts = mix->named_parameters();
  for (auto& item : parts) item.value().normal_(0, 0.5);
  const auto s = parts["factors_1"];
  const auto scale = torch::stack({s[0], s[0], s[0], s[1]});
  const auto x = torch::randn({2, 16}), added = torch::randn({16});
  auto stream = mix->start(torch::zeros({1, 1, 16}));
  stream.streams = x.view({1, 1, 2, 16});
  torch::Tensor reading = torch::zeros({16}), streams = torch::zeros({2, 16});
  std::vector<torch::Tensor> adding;
  for (int64_t i = 0; i < 2; ++i) {  // the first layer
    const auto direction = x[i] / x[i].square().mean().sqrt();
    const auto weights = scale * parts["dynamic_1"].matmul(direction).tanh() + parts["fixed_1"][i];
    reading += (weights[0] + (i == 0 ? 1 : 0)) * x[i];
    for (int64_t to = 0; to < 2; ++to) streams[to] += (weights[1 + to] + (to == i ? 1 : 0)) * x[i];
    adding.push_back(weights[3] + 1);
  }
  for (int64_t to = 0; to < 2; ++to) streams[to] += adding[static_cast<size_t>(to)] * added;
  const auto input = mix->read(stream, 0);
  EXPECT_LT(largest_difference(input.flatten(), reading), 1e-5);
  mix->write(stream, input, input + added);
  EXPECT_LT(largest_difference(stream.streams[0][0], streams), 1e-5);
}

TEST(ResidualMix, OffTheManifoldALayerHasAVectorForReadingForAddingAndForEachStreamMixed) {
  const auto mix = mix_of(HyperMix{.streams = 3, .manifold = false});
  const auto all = mix->named_parameters();
  const auto parameters = [&](const std::string& name) { return all[name].numel(); };
  EXPECT_EQ(parameters("dynamic_1"), 16 * (3 + 2));
  EXPECT_EQ(parameters("fixed_1"), 3 * (3 + 2));
  EXPECT_EQ(parameters("factors_1"), 2);
}

TEST(ResidualMix, AsItStartsEveryLayerReadsAStreamOfItsOwnAndAddsToAll) {
  const torch::NoGradGuard no_grad;
  const auto mix = mix_of(HyperMix{.streams = 2, .manifold = false});
  auto stream = mix->start(torch::zeros({1, 1, 16}));
  stream.streams = torch::tensor({1.0F, 2.0F}).view({1, 1, 2, 1}).expand({1, 1, 2, 16});
  EXPECT_EQ(mix->read(stream, 1).max().item<float>(), 2);
  const auto input = mix->read(stream, 0);
  EXPECT_EQ(input.max().item<float>(), 1);
  mix->write(stream, input, input + 10);
  EXPECT_TRUE(torch::equal(stream.streams.select(-1, 0).flatten(), torch::tensor({11.0F, 12.0F})));
}

}  // namespace
}  // namespace ablate::models
