#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"
#include "training/pass.h"
#include "training/schedule.h"

namespace ablate::training::ahead {
namespace {

using models::ids;

constexpr int64_t kDivider = 3;

models::Transformer with_heads(int64_t heads, std::optional<int64_t> divider) {
  auto options = models::tiny("family: decoder_only");
  options.output = models::LmHead{.ahead = heads};
  models::Transformer model(options, models::Vocabulary{20, 20, tokenizer::kPad, divider});
  models::initialize(*model, 1);
  return model;
}

/// The mean over `tokens` of the cross-entropy of these targets by torch, in which padding does not
/// count. // [B, T, D], [B, T]
torch::Tensor cross_entropy(const models::Transformer& model, const torch::Tensor& hidden,
                            const torch::Tensor& targets, double tokens) {
  const auto logits = hidden.matmul(model->output_weight().t());
  return torch::nll_loss(logits.flatten(0, 1).log_softmax(-1), targets.flatten(), {},
                         at::Reduction::Sum, tokenizer::kPad) /
         tokens;
}

std::vector<torch::Tensor> gradients_of(const models::Transformer& model) {
  std::vector<torch::Tensor> gradients;
  for (auto& parameter : model->parameters())
    gradients.push_back(std::exchange(parameter.mutable_grad(), {}));
  return gradients;
}

/// Expects the gradients of a pass to be those of the model's loss plus 0.3 times those of its two
/// heads with these targets.
void expect_gradients(models::Transformer model, const BatchTensors& batch,
                      const std::vector<torch::Tensor>& targets) {
  const double tokens = batch.tokens.item<double>();
  const auto output = model->hidden(batch.source, batch.target_in, {.ahead = 2});
  auto loss = cross_entropy(model, output.hidden, batch.target_out, tokens);
  for (size_t i = 0; i < targets.size(); ++i)
    loss = loss + 0.3 * cross_entropy(model, output.ahead[i], targets[i], tokens);
  loss.backward();
  const auto expected = gradients_of(model);
  const auto pass = forward_backward(*model, {batch, torch::full({}, 1 / tokens), nullptr},
                                     {.training = true, .ahead = 2}, {.ahead = 0.3}, [] {});
  const auto found = gradients_of(model);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(torch::allclose(found[i], expected[i], 1e-4, 1e-6)) << i;
  const auto own = cross_entropy(model, output.hidden, batch.target_out, tokens);
  EXPECT_NEAR(pass.loss.item<double>() / tokens, own.item<double>(), 1e-5)
      << "the loss that is reported is the next token's";
}

TEST(Ahead, HeadsLearnTheTokensBehindTheNextOne) {
  const BatchTensors batch{.source = ids({{5}, {5}}),
                           .target_in = ids({{1, 8, 9, 10}, {1, 6, 7, 0}}),
                           .target_out = ids({{8, 9, 10, 2}, {6, 7, 2, 0}}),
                           .tokens = torch::tensor(7)};
  expect_gradients(with_heads(2, {}), batch,
                   {ids({{9, 10, 2, 0}, {7, 2, 0, 0}}), ids({{10, 2, 0, 0}, {2, 0, 0, 0}})});
}

TEST(Ahead, NoHeadPredictsFromOneDocumentIntoAnother) {
  const BatchTensors batch{.source = ids({{5}}),
                           .target_in = ids({{3, 8, 9, 3, 7, 6}}),
                           .target_out = ids({{8, 9, 3, 7, 6, 5}}),
                           .tokens = torch::tensor(6)};
  expect_gradients(with_heads(2, kDivider), batch,
                   {ids({{9, 3, 0, 6, 5, 0}}), ids({{3, 0, 0, 5, 0, 0}})});
}

TEST(Ahead, RowsShorterThanTheHeadsReachHaveNoTarget) {
  const BatchTensors batch{.source = ids({{5}}),
                           .target_in = ids({{1}}),
                           .target_out = ids({{8}}),
                           .tokens = torch::tensor(1)};
  expect_gradients(with_heads(2, {}), batch, {ids({{0}}), ids({{0}})});
}

TEST(Ahead, CurriculaAddOrDropAHeadInEqualParts) {
  TrainingOptions options;
  const auto heads = [&](Curriculum curriculum) {
    options.ahead.curriculum = curriculum;
    std::vector<int64_t> all;
    for (int64_t step = 1; step <= 9; ++step) all.push_back(heads_at(options, {step, 9}, 2));
    return all;
  };
  EXPECT_EQ(heads(Curriculum::none), std::vector<int64_t>(9, 2));
  EXPECT_EQ(heads(Curriculum::forward), (std::vector<int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(heads(Curriculum::reverse), (std::vector<int64_t>{2, 2, 2, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(heads_at(options, {9, 9}, 0), 0);
}

}  // namespace
}  // namespace ablate::training::ahead
