#include "training/likelihood.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/errors.h"
#include "training/update.h"

namespace ablate::training {
namespace {

constexpr int64_t kWords = 12;

models::Transformer model_of(uint64_t seed) {
  return models::make(models::tiny("layers: 1, feed_forward.d_hidden: 32"),
                      {kWords, kWords, tokenizer::kPad}, seed);
}

std::vector<data::EncodedExample> examples() {
  return {{.source = {5, 6, 2}, .target = {7, 6, 5, 2}},
          {.source = {8, 2}, .target = {9, 2}},
          {.source = {4, 9, 2}, .target = {9, 4, 2}}};
}

/// Row t holds log p of every token at position t of the target. // [T, V]
torch::Tensor log_probabilities(models::Transformer& model, const data::EncodedExample& example) {
  const std::vector<data::EncodedExample> one{example};
  const auto tensors = to_tensors(data::collate(one, std::vector<int64_t>{0}), torch::kCPU);
  return model->forward(tensors.source, tensors.target_in)[0].log_softmax(-1);
}

TEST(Likelihood, IsTheMeanOverTokensHoweverTheyAreBatched) {
  const torch::NoGradGuard no_grad;
  auto model = model_of(1);
  double nll = 0, right = 0;
  for (const auto& example : examples()) {
    const auto log_p = log_probabilities(model, example);
    for (int64_t t = 0; t < std::ssize(example.target); ++t) {
      const int64_t token = example.target[static_cast<size_t>(t)];
      nll -= log_p[t][token].item<double>();
      right += log_p[t].argmax().item<int64_t>() == token ? 1 : 0;
    }
  }
  for (const int64_t tokens_per_batch : {4, 100}) {
    const auto scores = likelihood(model, examples(), {.tokens_per_batch = tokens_per_batch});
    EXPECT_EQ(scores.tokens, 9);
    EXPECT_NEAR(scores.nll, nll / 9, 1e-5);
    EXPECT_NEAR(scores.token_accuracy, right / 9, 1e-12);
    EXPECT_NEAR(scores.perplexity(), std::exp(nll / 9), 1e-4);
    EXPECT_TRUE(scores.position_accuracy.empty()) << "three examples say too little";
  }
}

TEST(Likelihood, ThatIsNotFiniteIsNoScore) {
  auto model = model_of(3);
  const torch::NoGradGuard no_grad;
  for (const float odd : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    model->output_weight()[5].fill_(odd);
    EXPECT_THROW(likelihood(model, examples(), {.tokens_per_batch = 100}), Diverged);
  }
}

TEST(Likelihood, OfClassesCountsEveryOneOfThem) {
  constexpr int64_t kClasses = 3;
  auto model = models::make(
      models::tiny(
          "family: encoder_only, layers: 1, feed_forward.d_hidden: 32, tying: none, output: label"),
      {kWords, kClasses, tokenizer::kPad}, 3);
  const torch::NoGradGuard no_grad;
  model->output_weight().zero_();
  const std::vector<data::EncodedExample> classified(10, {.source = {1, 5, 2}, .target = {0}});
  for (const auto& scores :
       {likelihood(model, classified, {.tokens_per_batch = 100}),
        likelihood(models::InferenceModel(model), classified, {.tokens_per_batch = 100})}) {
    EXPECT_EQ(scores.tokens, 10);
    EXPECT_NEAR(scores.nll, std::log(3.0), 1e-6);
    EXPECT_EQ(scores.position_accuracy, std::vector<double>{1}) << "none is likelier";
  }
}

/// Ten examples whose first token the model is given as its likeliest and whose second is not.
TEST(Likelihood, CountsEachPositionAsFarAsTenExamplesReach) {
  const torch::NoGradGuard no_grad;
  auto model = model_of(4);
  data::EncodedExample example{.source = {5, 2}, .target = {4, 4}};
  example.target[0] = log_probabilities(model, example)[0].argmax().item<int32_t>();
  const auto second = log_probabilities(model, example)[1].argmax().item<int32_t>();
  example.target[1] = second == 4 ? 5 : 4;
  std::vector<data::EncodedExample> ten(10, example);
  ten.front().target.push_back(6);
  const auto scores = likelihood(model, ten, {.tokens_per_batch = 6});
  EXPECT_EQ(scores.position_accuracy, (std::vector<double>{1, 0}));
}

TEST(Likelihood, OfMaskedTokensDoesNotDependOnTheBatches) {
  auto model =
      models::make(models::tiny("family: encoder_only, layers: 1, feed_forward.d_hidden: 32"),
                   {kWords, kWords, tokenizer::kPad}, 5);
  std::vector<data::EncodedExample> blocks;
  for (int32_t i = 0; i < 9; ++i) {
    data::EncodedExample block{.target = {tokenizer::kBos}, .prompt_length = 1};
    for (int32_t n = 0; n <= 4 + i % 3; ++n) block.target.push_back(5 + (i * n) % 7);
    block.source = block.target;
    blocks.push_back(block);
  }
  const data::Masking masking{.share = 0.3, .vocabulary = kWords};
  const auto alone = likelihood(model, blocks, {.tokens_per_batch = 1, .masking = masking});
  EXPECT_GT(alone.tokens, 5);
  for (const int64_t tokens_per_batch : {20, 1000}) {
    const auto scores =
        likelihood(model, blocks, {.tokens_per_batch = tokens_per_batch, .masking = masking});
    EXPECT_EQ(scores.tokens, alone.tokens);
    EXPECT_NEAR(scores.nll, alone.nll, 1e-5);
    EXPECT_EQ(scores.token_accuracy, alone.token_accuracy);
  }
}

}  // namespace
}  // namespace ablate::training
