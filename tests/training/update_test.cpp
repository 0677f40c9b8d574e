#include "training/update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"

namespace ablate::training {
namespace {

constexpr int64_t kVocabulary = 12;

models::Transformer tiny_model(double seed = 1) {
  return models::make(models::tiny("layers: 1, feed_forward.d_hidden: 32"),
                      {kVocabulary, kVocabulary, tokenizer::kPad}, static_cast<uint64_t>(seed));
}

data::EncodedExample pair(std::vector<int32_t> source, std::vector<int32_t> target) {
  source.push_back(tokenizer::kEos);
  target.push_back(tokenizer::kEos);
  return {source, target};
}

std::vector<data::EncodedExample> pairs() {
  return {pair({5, 6, 7}, {7, 6, 5}), pair({8}, {9}), pair({4, 9}, {9, 4, 4, 10}),
          pair({11, 5, 5, 5}, {6})};
}

UpdateOptions plain() {
  return {.learning_rate = 1e-2,
          .loss = {.smoothing = 0.1},
          .dropout = 0,
          .dropout_seed = 3,
          .precision = Precision::fp32};
}

data::Batch batch(std::vector<int64_t> rows) { return data::collate(pairs(), rows); }

/// The first update of a model, by Adam.
StepRecord first_update(models::Transformer& model, const data::Batch& batch,
                        const UpdateOptions& options = plain()) {
  const auto optimizer = make_optimizer(Adam{}, *model);
  return update(model, *optimizer, {&batch, 1}, options);
}

/// NaN if a parameter is not a number.
double largest_difference(const models::Transformer& a, const models::Transformer& b) {
  auto largest = torch::zeros({});
  const auto left = a->parameters(), right = b->parameters();
  for (size_t i = 0; i < left.size(); ++i)
    largest = torch::maximum(largest, (left[i] - right[i]).abs().max());
  return largest.item<double>();
}

TEST(Update, SplittingIntoMicroBatchesChangesNothing) {
  auto whole = tiny_model(), split = tiny_model();
  // A large epsilon keeps Adam from turning rounding noise of vanishing gradients into whole steps.
  const Adam adam{.epsilon = 1e-3};
  const auto first = make_optimizer(adam, *whole), second = make_optimizer(adam, *split);
  const std::vector<data::Batch> one{batch({0, 1, 2, 3})},
      three{batch({0}), batch({1, 2}), batch({3})};
  for (int step = 0; step < 3; ++step) {
    const auto a = update(whole, *first, one, plain()), b = update(split, *second, three, plain());
    EXPECT_EQ(a.tokens, b.tokens);
    EXPECT_NEAR(a.loss, b.loss, 1e-5);
    EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 1e-5);
  }
  EXPECT_LT(largest_difference(whole, split), 1e-5);
}

/// A label model that gives three classes a third each.
struct EvenLabels {
  EvenLabels() {
    const torch::NoGradGuard no_grad;
    model->output_weight().zero_();
  }
  /// The squares that a curvature of one update with this seed has for each class.
  torch::Tensor learn(const data::Batch& batch, uint64_t seed) {  // -> [3]
    auto options = plain();
    options.learning_rate = 0;
    options.dropout_seed = seed;
    options.curvature = true;
    update(model, *optimizer, {&batch, 1}, options);
    return optimizer->state().at("curvature.classifier").sum(1);
  }
  models::Transformer model =
      models::make(models::tiny("family: encoder_only, layers: 1, feed_forward.d_hidden: 32, "
                                "tying: none, output: label"),
                   {kVocabulary, 3, tokenizer::kPad}, 1);
  std::unique_ptr<Optimizer> optimizer = make_optimizer(Sophia{.beta2 = 0}, *model);
  std::vector<data::EncodedExample> alike{2, {.source = {1, 5, 2}, .target = {0}}};
  data::Batch one = data::collate(alike, std::vector<int64_t>{0}),
              two = data::collate(alike, std::vector<int64_t>{0, 1});
};

TEST(Update, OfALabelHeadStartsAtTheLogarithmOfItsClasses) {
  EvenLabels labels;
  const std::vector<data::EncodedExample> classified{{.source = {1, 5, 2}, .target = {0}},
                                                     {.source = {1, 6, 2}, .target = {2}}};
  const auto record =
      first_update(labels.model, data::collate(classified, std::vector<int64_t>{0, 1}));
  EXPECT_EQ(record.tokens, 2);
  EXPECT_NEAR(record.nll, std::log(3.0), 1e-6);
  EXPECT_NEAR(record.loss, std::log(3.0), 1e-6) << "smoothing spreads over the classes alone";
}

// The gradient of a class of one target is the hidden vector, times its share less 1 if it was
// drawn.
TEST(Update, LearnsTheCurvatureFromTargetsThatTheModelDraws) {
  EvenLabels labels;
  std::set<int64_t> drawn;
  double square = 0;  // of the hidden vector
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto curvature = labels.learn(labels.one, seed);
    square = 9 * curvature.min().item<double>();
    EXPECT_GT(square, 0.1);
    auto expected = torch::full({3}, square / 9);
    expected[curvature.argmax()] = square * 4 / 9;
    EXPECT_LT((curvature - expected).abs().max().item<double>(), 1e-5 * square) << curvature;
    drawn.insert(curvature.argmax().item<int64_t>());
  }
  EXPECT_EQ(drawn.size(), 3) << "of which one is the batch's own";
  // Of two targets it is the mean's, whose square counts twice.
  const auto apart = (labels.learn(labels.two, 1) * (2 / square)).sqrt();  // |2/3 - times drawn|
  for (int64_t i = 0; i < 3; ++i) {
    const double times = 3 * apart[i].item<double>();  // 2, 1 or 4: drawn never, once or twice
    EXPECT_LT(std::min({std::abs(times - 2), std::abs(times - 1), std::abs(times - 4)}), 1e-4);
  }
}

TEST(Update, ACurvatureThatIsNotFiniteTeachesNothing) {
  EvenLabels labels;
  {
    const torch::NoGradGuard no_grad;
    labels.model->output_weight().fill_(std::numeric_limits<float>::quiet_NaN());
  }
  auto options = plain();
  options.curvature = true;
  EXPECT_TRUE(update(labels.model, *labels.optimizer, {&labels.one, 1}, options).skipped);
  for (const auto& [name, tensor] : labels.optimizer->state())
    EXPECT_EQ(tensor.count_nonzero().item<int64_t>(), 0) << name;
}

TEST(Update, ClippingBoundsTheGradientThatTheStepSees) {
  auto model = tiny_model();
  auto options = plain();
  options.clips.norm.most = 1e-30;  // far below Adam's epsilon: the step vanishes
  auto before = tiny_model();
  const auto record = first_update(model, batch({0, 1, 2}), options);
  EXPECT_GT(record.gradient_norm, 1e-3);
  EXPECT_LT(largest_difference(model, before), 1e-6);
}

TEST(Update, ANotFiniteLossLeavesTheWeightsAlone) {
  auto model = tiny_model();
  {
    torch::NoGradGuard no_grad;
    model->named_parameters()["decoder.layers.0.feed_forward.up.bias"].fill_(
        std::numeric_limits<float>::infinity());
  }
  const auto embedding = model->output_weight().clone();
  EXPECT_TRUE(first_update(model, batch({0})).skipped);
  EXPECT_TRUE(torch::equal(embedding, model->output_weight()));
}

TEST(Update, ANotFiniteLossLeavesTheRunningMomentsAlone) {
  auto model = models::make(models::tiny("layers: 1, norm.kind: batch, tying: none"),
                            {kVocabulary, kVocabulary, tokenizer::kPad}, 1);
  {
    const torch::NoGradGuard no_grad;
    model->named_parameters()["source_embedding"][5].fill_(std::numeric_limits<float>::infinity());
  }
  const auto moments = [&] {
    return model->named_buffers()["encoder.layers.0.attention_norm.running_mean"];
  };
  EXPECT_TRUE(first_update(model, batch({0})).skipped);
  EXPECT_EQ(moments().abs().max().item<double>(), 0.0);
  EXPECT_FALSE(first_update(model, batch({1})).skipped);
  EXPECT_GT(moments().abs().max().item<double>(), 0.0);
}

TEST(Update, IsAFunctionOfItsDropoutSeed) {
  const auto loss = [](uint64_t seed) {
    auto model = tiny_model();
    auto options = plain();
    options.dropout = 0.3;
    options.dropout_seed = seed;
    return first_update(model, batch({0, 1, 2, 3}), options).loss;
  };
  EXPECT_EQ(loss(1), loss(1));
  EXPECT_NE(loss(1), loss(2));
}

TEST(Update, LeavesTheCallersChoiceOfTf32) {
  auto& context = at::globalContext();
  for (const bool own : {true, false}) {
    context.setAllowTF32CuBLAS(own);
    context.setAllowTF32CuDNN(!own);
    auto model = tiny_model();
    first_update(model, batch({0}));
    EXPECT_EQ(context.allowTF32CuBLAS(), own);
    EXPECT_EQ(context.allowTF32CuDNN(at::Float32Op::RNN), !own);
  }
  context.setAllowTF32CuBLAS(false);
}

TEST(Update, Bfloat16TrainsNearlyAsFloat) {
  auto options = plain();
  auto exact = tiny_model(), rounded = tiny_model();
  const auto first = make_optimizer(Adam{}, *exact), second = make_optimizer(Adam{}, *rounded);
  const auto one = batch({0, 1, 2, 3});
  double a = 0, b = 0;
  for (int step = 0; step < 30; ++step) {
    options.precision = Precision::fp32;
    a = update(exact, *first, {&one, 1}, options).loss;
    options.precision = Precision::bf16;
    b = update(rounded, *second, {&one, 1}, options).loss;
  }
  EXPECT_LT(a, 1.0);
  EXPECT_NEAR(a, b, 0.1);
  EXPECT_EQ(rounded->parameters()[0].scalar_type(), torch::kFloat);
}

/// The first losses of a fixed run; a change of these numbers is a change of behaviour and belongs
/// into the CHANGELOG.
TEST(Update, TheGoldenRunOfTwentyStepsIsUnchanged) {
  auto model = tiny_model();
  const auto optimizer = make_optimizer(Adam{}, *model);
  std::vector<double> losses;
  for (int step = 0; step < 20; ++step) {
    const auto one = batch({step % 4, (step + 1) % 4});
    auto options = plain();
    options.dropout = 0.1;
    options.dropout_seed = static_cast<uint64_t>(step);
    options.learning_rate = 1e-3 * (step + 1);
    losses.push_back(update(model, *optimizer, {&one, 1}, options).loss);
  }
  const std::vector<double> golden{3.41839, 3.50788, 3.4307,  2.95814, 2.39141, 2.36578, 2.43565,
                                   2.23025, 1.88487, 2.00073, 2.15346, 2.01396, 1.84343, 1.69637,
                                   1.70565, 1.73507, 1.71244, 1.75005, 1.57728, 1.4157};
  for (size_t i = 0; i < golden.size(); ++i) EXPECT_NEAR(losses[i], golden[i], 2e-3) << i;
  if (HasFailure())
    for (const double loss : losses) std::cout << loss << ", ";
}

}  // namespace
}  // namespace ablate::training
