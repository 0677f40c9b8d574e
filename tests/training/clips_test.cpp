#include "training/clips.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"
#include "training/update.h"

namespace ablate::training::clips {
namespace {

using models::ids;

/// The largest score of one head of width 1 over these queries and keys.
double largest(std::vector<double> queries, const std::vector<double>& keys, bool causal,
               const torch::Tensor& bias = {}) {
  const auto length = std::ssize(queries);
  const auto column = [](const std::vector<double>& numbers) {
    return torch::tensor(numbers).view({1, -1, 1});
  };
  return models::ops::largest_scores(
             {.query =
                  torch::cat({column(queries), column(keys), torch::zeros({1, length, 1})}, -1),
              .heads = {.count = 1, .key_values = 1, .d_k = 1, .d_v = 1},
              .position = {.bias = bias},
              .causal = causal})
      .item<double>();
}

TEST(ScoreClip, TheLargestScoreIsOneThatAQueryGivesAKeyItSees) {
  EXPECT_EQ(largest({1, 2}, {3, -1}, true), 6);
  EXPECT_EQ(largest({5, 1}, {-1, 3}, true), 3) << "15 is that of a later key";
  EXPECT_EQ(largest({5, 1}, {-1, 3}, false), 15);
}

TEST(ScoreClip, NoKeyBeyondAWindowCountsAndNoOtherBiasIsAdded) {
  constexpr double kBeyond = -std::numeric_limits<double>::infinity();
  const auto window = torch::tensor({{0.0, kBeyond}, {kBeyond, 0.0}}).unsqueeze(0);  // [1, 2, 2]
  EXPECT_EQ(largest({1, 5}, {3, -1}, true, window), 3) << "15 is that of a key too far back";
  EXPECT_EQ(largest({1, 5}, {3, -1}, true, torch::full({1, 2, 2}, 7.0)), 15);
}

models::Transformer decoder(const models::AttentionOptions& attention) {
  auto options = models::tiny("family: decoder_only, position: rotary");
  options.layer.attention = attention;
  auto model = models::make(options);
  const torch::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    if (item.key().ends_with("qkv.weight") || item.key().ends_with("query.weight"))
      item.value().mul_(4);
    if (item.key().ends_with("qkv.bias")) item.value().uniform_(-1, 1);
  }
  return model;
}

models::Transformer decoder(std::optional<int64_t> key_value_heads = {}) {
  return decoder(models::MultiHead{.heads = 4, .key_value_heads = key_value_heads});
}

data::Batch batch(std::vector<int32_t> target) {
  target.push_back(tokenizer::kEos);
  const std::vector<data::EncodedExample> one{{{}, std::move(target), 1}};
  return data::collate(one, std::vector<int64_t>{0});
}

/// Largest scores of every layer's heads in a pass. // [layers, H]
torch::Tensor scores_of(models::Transformer& model, const data::Batch& batch) {
  std::vector<torch::Tensor> all;
  models::Observer observer;
  observer.largest_scores = [&](auto&, const torch::Tensor& scores) { all.push_back(scores); };
  const torch::NoGradGuard no_grad;
  const auto tensors = to_tensors(batch, torch::kCPU);
  model->hidden(tensors.source, tensors.target_in, {.observer = &observer});
  return torch::stack(all);
}

/// Updates that leave the weights as they are, but for the clip.
void clip(models::Transformer& model, const std::vector<data::Batch>& batches, double most) {
  const auto optimizer = make_optimizer(Sgd{}, *model);
  update(model, *optimizer, batches,
         {.learning_rate = 0,
          .loss = {},
          .clips = {.scores = {{.most = most}}},
          .dropout = 0,
          .dropout_seed = 1,
          .precision = Precision::fp32});
}

TEST(ScoreClip, BoundsTheFirstLayersScoresAndLeavesOtherHeadsAlone) {
  for (const std::optional<int64_t> key_value_heads : {std::optional<int64_t>(), {2}}) {
    auto model = decoder(key_value_heads);
    const auto text = batch({5, 6, 7, 8, 9, 10, 4});
    const auto before = scores_of(model, text)[0];
    const double most = before.median().item<double>();
    const auto weight = model->named_parameters()["decoder.layers.0.attention.qkv.weight"];
    const auto rows = weight.clone();
    ASSERT_GT(before.max().item<double>(), most + 0.1);
    clip(model, {text}, most);
    // The first layer reads the same as before, so that its scores are the bound.
    EXPECT_TRUE(torch::allclose(scores_of(model, text)[0], before.clamp_max(most), 1e-4, 1e-5));
    for (int64_t head = 0; head < 4; ++head) {
      const auto of_head = [&](const torch::Tensor& x) { return x.narrow(0, 4 * head, 4); };
      EXPECT_EQ(torch::equal(of_head(weight), of_head(rows)), before[head].item<double>() <= most);
    }
    const int64_t values = 16 + 4 * key_value_heads.value_or(4);
    EXPECT_TRUE(torch::equal(weight.slice(0, values), rows.slice(0, values)));
    const bool kept = torch::equal(weight.slice(0, 16, values), rows.slice(0, 16, values));
    EXPECT_EQ(kept, key_value_heads.has_value()) << "keys that heads share stay as they are";
  }
}

TEST(ScoreClip, ScalesBothPartsOfLatentAttentionsScores) {
  auto model = decoder(models::Latent{.heads = 4});
  const auto text = batch({5, 6, 7, 8, 9, 10, 4});
  const auto before = scores_of(model, text)[0];
  const double most = before.median().item<double>();
  ASSERT_GT(before.max().item<double>(), most * 1.1);
  const auto weights = model->named_parameters();
  const std::string layer = "decoder.layers.0.attention.";
  const auto expand = weights[layer + "expand.weight"], latent = weights[layer + "latent.weight"];
  const auto expanded = expand.clone(), compressed = latent.clone();
  clip(model, {text}, most);
  EXPECT_TRUE(torch::allclose(scores_of(model, text)[0], before.clamp_max(most), 1e-4, 1e-5));
  EXPECT_TRUE(torch::equal(latent, compressed)) << "all heads read it";
  for (int64_t head = 0; head < 4; ++head) {
    const auto keys = [&](const torch::Tensor& x) { return x.narrow(0, 4 * head, 4); };
    EXPECT_EQ(torch::equal(keys(expand), keys(expanded)), before[head].item<double>() <= most);
  }
  EXPECT_TRUE(torch::equal(expand.slice(0, 16), expanded.slice(0, 16))) << "values";
}

TEST(ScoreClip, TakesTheLargestScoreOfAllBatches) {
  auto model = decoder(), other = decoder();
  const auto first = batch({5, 6, 7, 8}), second = batch({9, 10, 11, 12});
  const auto largest = torch::maximum(scores_of(model, first)[0], scores_of(model, second)[0]);
  clip(model, {first, second}, 0.1);
  const auto left = torch::maximum(scores_of(model, first)[0], scores_of(model, second)[0]);
  EXPECT_TRUE(torch::allclose(left, largest.clamp_max(0.1), 1e-4, 1e-5));
}

TEST(ScoreClip, WithoutABoundNothingChanges) {
  auto model = decoder(), same = decoder();
  clip(model, {batch({5, 6, 7, 8})}, 0);
  clip(same, {batch({5, 6, 7, 8})}, 1e9);
  const auto left = model->parameters(), right = same->parameters(),
             first = decoder()->parameters();
  for (size_t i = 0; i < left.size(); ++i) {
    if (first[i].dim() < 2) continue;  // biases are drawn by another generator
    EXPECT_TRUE(torch::equal(left[i], first[i]));
    EXPECT_TRUE(torch::equal(right[i], first[i]));
  }
}

}  // namespace
}  // namespace ablate::training::clips
