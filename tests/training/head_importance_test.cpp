#include "training/head_importance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/errors.h"
#include "training/update.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

std::vector<data::EncodedExample> examples(const models::TransformerOptions& options) {
  std::vector<data::EncodedExample> all{{.source = {5, 6, 2}, .target = {7, 6, 5, 2}},
                                        {.source = {8, 2}, .target = {9, 2}},
                                        {.source = {4, 9, 7, 7, 2}, .target = {9, 4, 2}}};
  for (auto& example : all) {
    if (options.family == models::Family::decoder_only) example = {{}, example.target, 1};
    if (options.family == models::Family::encoder_only) example.target = example.source;
  }
  return all;
}

models::Transformer model_of(const models::TransformerOptions& options) {
  return models::make(options, 12);
}

std::map<std::string, double> importance(models::Transformer& model, int64_t tokens_per_batch) {
  std::map<std::string, double> scores;
  for (const auto& [head, score] :
       head_importance(model, examples(model->options()), {.tokens_per_batch = tokens_per_batch}))
    scores[text_of(head)] = score;
  return scores;
}

/// The negative log-likelihood of one example's targets where what a head gives is multiplied.
double loss_with(models::Transformer& model, const data::EncodedExample& example,
                 const models::HeadName& head, double factor) {
  const torch::NoGradGuard no_grad;
  const auto projection = weights_of(*model).at(text_of(head.attention) + ".out.weight");
  const auto width = projection.size(1) / models::head_count(model->options(), head.attention);
  auto columns = projection.narrow(1, head.head * width, width);
  const auto before = columns.clone();
  columns.mul_(factor);
  const auto tensors =
      to_tensors(data::collate(std::vector{example}, std::vector<int64_t>{0}), torch::kCPU);
  const auto log_p = model->forward(tensors.source, tensors.target_in).log_softmax(-1);
  columns.copy_(before);
  const auto& targets = tensors.target_out;  // of which a prompt is no part
  const auto of_targets = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1);
  return -of_targets.masked_select(targets.ne(tokenizer::kPad)).sum().item<double>();
}

/// Mean of |dL/dm| by central differences, over its l2 norm within each attention.
std::map<std::string, double> by_differences(models::Transformer& model) {
  constexpr double kStep = 1e-5;
  const auto set = examples(model->options());
  std::map<std::string, double> scores;
  for (const auto& attention : models::attentions_of(model->options())) {
    const auto heads = models::head_count(model->options(), attention);
    double squares = 0;
    for (int64_t h = 0; h < heads; ++h) {
      double sum = 0;
      for (const auto& example : set)
        sum += std::abs(loss_with(model, example, {attention, h}, 1 + kStep) -
                        loss_with(model, example, {attention, h}, 1 - kStep)) /
               (2 * kStep);
      scores[text_of(models::HeadName{attention, h})] = sum;
      squares += sum * sum;
    }
    for (int64_t h = 0; h < heads; ++h)
      scores[text_of(models::HeadName{attention, h})] /= std::sqrt(squares);
  }
  return scores;
}

void expect_same(const std::map<std::string, double>& found,
                 const std::map<std::string, double>& expected, double tolerance,
                 const std::string& name) {
  ASSERT_EQ(found.size(), expected.size()) << name;
  for (const auto& [head, score] : expected)
    EXPECT_NEAR(found.at(head), score, tolerance) << name << ": " << head;
}

std::vector<models::Variant> observed() {
  using namespace models;
  return {changed("encoder-decoder", [](auto& o) { o.attention = MultiHead{.heads = 4}; }),
          changed("groups, gated",
                  [](auto& o) {
                    o.attention =
                        MultiHead{.heads = 4, .key_value_heads = 2, .gate = OutputGate::element};
                  }),
          changed("decoder", [](auto& o) { o.family = Family::decoder_only; }),
          changed("encoder", [](auto& o) { o.family = Family::encoder_only; }),
          changed("lstm encoder",
                  [](auto& o) {
                    change_layers(o, Side::encoder, [](auto& layer) { layer.attention = Lstm{}; });
                    o.cross_attention = MultiHead{.heads = 2};
                  }),
          changed("retention and delta rule", [](auto& o) {
            o.cross_attention = MultiHead{.heads = 2};
            change_layers(o, Side::encoder, [](auto& layer) {
              layer.attention = LinearAttention{{.heads = 2, .decay = Forgetting::fixed}};
            });
            change_layers(o, Side::decoder,
                          [](auto& layer) { layer.attention = DeltaRule{{.heads = 2}}; });
          })};
}

TEST(HeadImportance, IsTheMeanSizeOfTheLossesDerivativesByTheMasks) {
  for (auto [name, options] : observed()) {
    // At the kink of a relu a difference of both sides is no derivative.
    options.feed_forward = models::DenseFeedForward{.activation = models::Activation::gelu};
    auto model = model_of(options);
    model->to(torch::kDouble);
    expect_same(importance(model, 100), by_differences(model), 1e-6, name);
  }
}

TEST(HeadImportance, OfASharedLayerIsThatOfOneMaskWhereverItIsRun) {
  auto options = models::tiny();
  options.share.layers = 1;
  auto model = model_of(options);
  model->to(torch::kDouble);
  const auto found = importance(model, 100);
  EXPECT_EQ(found.size(), 6U) << "two heads of one attention, and of two in the decoder";
  expect_same(found, by_differences(model), 1e-6, "shared");
}

TEST(HeadImportance, ThatIsNotFiniteRanksNoHeads) {
  auto model = model_of(models::tiny());
  const torch::NoGradGuard no_grad;
  model->output_weight()[5].fill_(std::nanf(""));
  EXPECT_THROW(importance(model, 100), Diverged);
}

TEST(HeadImportance, PaddingCountsNowhere) {
  for (const auto& [name, options] : observed()) {
    auto model = model_of(options);
    expect_same(importance(model, 100), importance(model, 1), 1e-4, name);
  }
}

TEST(HeadImportance, OfAHeadThatNothingReadsIsZeroAndLeavingItOutChangesNoLogit) {
  auto model = model_of(models::tiny());
  {
    const torch::NoGradGuard no_grad;
    weights_of(*model).at("encoder.layers.1.attention.out.weight").narrow(1, 0, 8).zero_();
  }
  const auto scores = importance(model, 100);
  EXPECT_EQ(scores.at("encoder.layers.1.attention.0"), 0);
  EXPECT_NEAR(scores.at("encoder.layers.1.attention.1"), 1, 1e-6);
  EXPECT_GT(scores.at("encoder.layers.0.attention.0"), 0);
}

TEST(HeadImportance, LeavesTheModelAndItsGradientsAlone) {
  auto model = model_of(models::tiny());
  const auto before = model->output_weight().detach().clone();
  const torch::NoGradGuard no_grad;  // which does not reach the masks
  EXPECT_FALSE(importance(model, 100).empty());
  EXPECT_TRUE(torch::equal(model->output_weight(), before));
  for (const auto& parameter : model->parameters()) EXPECT_FALSE(parameter.grad().defined());
}

}  // namespace
}  // namespace ablate::training
