#include "training/update_observer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/training/mixture_model.h"

namespace ablate::training {
namespace {

models::Transformer dense_model() { return model_with(models::DenseFeedForward{.d_hidden = 24}); }

UpdateOptions plain_update() {
  auto options = mixture_updates();
  options.mixtures = false;
  return options;
}

/// What was seen of one update, by what and place.
std::map<std::string, double> seen(models::Transformer& model, const OptimizerOptions& options,
                                   const std::vector<data::Batch>& batches) {
  const auto optimizer = make_optimizer(options, *model);
  const UpdateObserver observer(model, batches.front(), plain_update(), {.every = 1});
  std::map<std::string, double> values;
  for (const auto& one : observer.after(update(model, *optimizer, batches, plain_update())))
    values[one.what + " " + one.place] = one.value;
  return values;
}

double norm_of_weights(const models::TransformerImpl& model, const std::string& prefix) {
  double square = 0;
  for (const auto& item : model.named_parameters())
    if (item.key().starts_with(prefix))
      square += std::pow(item.value().detach().norm().item<double>(), 2);
  return std::sqrt(square);
}

TEST(UpdateObserver, PlainDescentMovesWeightsByTheRateTimesTheGradient) {
  auto model = dense_model();
  const auto batch = three_pairs();
  const auto weights = norm_of_weights(*model, "");
  const auto gradient = gradient_norm(model, batch, plain_update());
  const auto values = seen(model, Sgd{}, {batch});
  EXPECT_NEAR(values.at("update_ratio model"), plain_update().learning_rate * gradient / weights,
              1e-4 * values.at("update_ratio model"));
}

TEST(UpdateObserver, EveryLayerAndWhatStandsOutsideHasItsRatio) {
  auto model = dense_model();
  std::vector<torch::Tensor> before;
  for (const auto& parameter : model->parameters()) before.push_back(parameter.detach().clone());
  const auto weights = norm_of_weights(*model, "decoder.layers.1.");
  const auto values = seen(model, Adam{}, {three_pairs()});
  double change = 0;
  const auto now = model->named_parameters();
  for (size_t i = 0; i < before.size(); ++i)
    if (now[i].key().starts_with("decoder.layers.1."))
      change += std::pow((now[i].value().detach() - before[i]).norm().item<double>(), 2);
  EXPECT_NEAR(values.at("update_ratio decoder.layers.1"), std::sqrt(change) / weights, 1e-7);
  for (const auto* place : {"embedding", "encoder.layers.0", "encoder.layers.1", "model"})
    EXPECT_GT(values.at(std::string("update_ratio ") + place), 0) << place;
}

TEST(UpdateObserver, ExamplesThatAreAllTheSameAreNoNoise) {
  auto model = dense_model();
  const std::vector<data::EncodedExample> same(12, {{5, 6, 7, 2}, {7, 6, 2}});
  const auto batch =
      data::collate(same, std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const auto square = std::pow(gradient_norm(model, batch, plain_update()), 2);
  const auto values = seen(model, Adam{}, {batch});
  EXPECT_NEAR(values.at("gradient_square model"), square, 1e-4 * square);
  EXPECT_NEAR(values.at("gradient_variance model"), 0, 1e-3 * square);
  EXPECT_NEAR(values.at("gradient_noise model"), 0, 1e-3);
}

TEST(UpdateObserver, PartsTrainTheFurtherHeadsThatTheUpdateDoes) {
  const auto plain = dense_model();
  auto options = plain->options();
  options.output = models::LmHead{.ahead = 1};
  models::Transformer model(options, plain->vocabulary());
  models::initialize(*model, 1);
  const auto optimizer = make_optimizer(Adam{}, *model);
  const std::vector<data::EncodedExample> same(4, {{5, 6, 7, 2}, {7, 6, 2}});
  const auto batch = data::collate(same, std::vector<int64_t>{0, 1, 2, 3});
  auto updates = plain_update();
  updates.ahead = 1;
  const UpdateObserver observer(model, batch, updates, {.every = 1});
  const auto seen = observer.after(update(model, *optimizer, {&batch, 1}, updates));
  const auto noise = std::ranges::find(seen, "gradient_noise", &Observation::what);
  ASSERT_NE(noise, seen.end());
  EXPECT_NEAR(noise->value, 0, 1e-3);
}

TEST(UpdateObserver, PartsCountByTheirTokensAndThoseWithoutAnyNotAtAll) {
  auto model = dense_model();
  const std::vector<data::EncodedExample> pairs{
      {{5, 6, 7, 2}, {7, 6, 5, 8, 2}}, {{8, 2}, {9, 2}}, {{6, 9, 2}, {5, 2}}};
  auto batch = data::collate(pairs, std::vector<int64_t>{0, 1, 2});
  std::fill(batch.target_out.end() - batch.target_length, batch.target_out.end(), tokenizer::kPad);
  batch.tokens = 7;
  const GradientSize whole{.square = std::pow(gradient_norm(model, batch, plain_update()), 2),
                           .tokens = 7};
  GradientSize parts{.square = 0, .tokens = 3.5};
  for (const int64_t i : {0, 1}) {
    const auto one = data::collate(pairs, std::vector<int64_t>{i});
    parts.square += static_cast<double>(one.tokens) / 7 *
                    std::pow(gradient_norm(model, one, plain_update()), 2);
  }
  const auto expected = gradient_noise(parts, whole);
  const auto values = seen(model, Sgd{}, {batch});
  EXPECT_NEAR(values.at("gradient_square model"), expected.square, 1e-4 * whole.square);
  EXPECT_NEAR(values.at("gradient_variance model"), expected.variance, 1e-4 * expected.variance);
}

TEST(UpdateObserver, OtherExamplesAreNoise) {
  auto model = dense_model();
  const auto values = seen(model, Adam{}, {three_pairs(), three_pairs()});
  EXPECT_GT(values.at("gradient_variance model"), 0);
}

TEST(UpdateObserver, OneExampleHasNoParts) {
  auto model = dense_model();
  const std::vector<data::EncodedExample> one{{{5, 6, 7, 2}, {7, 6, 2}}};
  const auto values = seen(model, Adam{}, {data::collate(one, std::vector<int64_t>{0})});
  EXPECT_FALSE(values.contains("gradient_noise model"));
  EXPECT_TRUE(values.contains("update_ratio model"));
}

TEST(UpdateObserver, TheGradientIsThatOfAnUpdateAndLeavesTheModelAsItWas) {
  auto model =
      models::make(models::tiny("layers: 1, norm.kind: batch"), {12, 12, tokenizer::kPad}, 1);
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto batch = three_pairs();
  const auto before = average(std::vector{weights_of(*model)});  // copies
  const auto norm = gradient_norm(model, batch, plain_update());
  for (const auto& [name, weight] : weights_of(*model))
    EXPECT_TRUE(torch::equal(weight, before.at(name))) << name;
  EXPECT_TRUE(optimizer->gradients().empty());
  EXPECT_NEAR(update(model, *optimizer, {&batch, 1}, plain_update()).gradient_norm, norm,
              1e-6 * norm);
}

}  // namespace
}  // namespace ablate::training
