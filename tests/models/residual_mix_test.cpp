#include "models/residual_mix.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TransformerOptions pre_norm(const ResidualMixOptions& mix) {
  auto options = tiny();
  options.norm.placement = NormPlacement::pre;
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
  EXPECT_GT(largest_difference(logits(hyper), logits(plain)), 1e-5) << "a share depends on x";
  for (auto& item : hyper->named_parameters())
    if (item.key().find("residual_mix.factors") != std::string::npos) item.value().zero_();
  EXPECT_LT(largest_difference(logits(hyper), logits(plain)), 1e-5);
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
  EXPECT_LT(largest_difference(stream.mixing.sum(-1), torch::ones({1})), 0.02) << "20 rounds";
  EXPECT_LT(largest_difference(stream.mixing.sum(-2), torch::ones({1})), 1e-5);
  EXPECT_GT(stream.mixing.min().item<double>(), 0);
  mix->write(stream, input, input);  // a layer that adds nothing
  EXPECT_LT(largest_difference(stream.streams.mean(2), before), 1e-5);
}

TEST(ResidualMix, AsItStartsEveryLayerReadsAStreamOfItsOwnAndAddsToAll) {
  const torch::NoGradGuard no_grad;
  const auto mix = mix_of(HyperMix{.streams = 2, .manifold = false});
  for (auto& item : mix->named_parameters())
    if (item.key().starts_with("factors")) item.value().zero_();
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
