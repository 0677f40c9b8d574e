#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/ops/linear_cross_entropy.h"
#include "tests/training/mixture_model.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

data::Batch batch_of(std::vector<int64_t> rows) {
  std::vector<data::EncodedExample> pairs = {{{5, 6, 7, 2}, {7, 6, 5, 8, 9, 2}}, {{8, 2}, {9, 2}}};
  return data::collate(pairs, rows);
}

TEST(UpdateMixture, TheAuxiliaryLossOfABatchCountsByItsShareOfTheTokens) {
  auto options = mixture_of(models::SoftmaxRouter{}, 2);
  options.balance = {.load = 0.3, .z = 0.5};
  auto model = model_with(options), same = model_with(options);
  const std::vector<data::Batch> batches{batch_of({0}), batch_of({1})};  // 6 and 2 tokens
  torch::Tensor objective;
  for (const auto& one : batches) {
    const auto tensors = to_tensors(one, torch::kCPU);
    const auto output = same->hidden(tensors.source, tensors.target_in, {.training = true});
    const auto loss =
        models::ops::linear_cross_entropy(output.hidden, same->output_weight(), tensors.target_out,
                                          {.ignored = tokenizer::kPad, .smoothing = 0.1})
            .loss;
    torch::Tensor aux_loss = torch::zeros({});
    for (const auto& routing : output.routings) {
      const auto statistics = models::statistics_of(routing);
      aux_loss = aux_loss + (0.3 * statistics.load + 0.5 * statistics.z) / 4.0;
    }
    const auto part = (loss + aux_loss * static_cast<double>(one.tokens)) / 8.0;
    objective = objective.defined() ? objective + part : part;
  }
  objective.backward();
  double square = 0;
  for (const auto& parameter : same->parameters())
    if (parameter.grad().defined()) square += std::pow(parameter.grad().norm().item<double>(), 2);
  const auto optimizer = make_optimizer(Adam{}, *model);
  EXPECT_NEAR(update(model, *optimizer, batches, mixture_updates()).gradient_norm,
              std::sqrt(square), 1e-5);
}

TEST(UpdateMixture, NoisyRoutersLearnTheSizeOfTheirNoise) {
  auto model = model_with(mixture_of(models::NoisyRouter{}, 2));
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto before = weights_of(*model).at("encoder.layers.0.feed_forward.router.noise").clone();
  const auto one = three_pairs();
  update(model, *optimizer, {&one, 1}, mixture_updates());
  const auto after = weights_of(*model).at("encoder.layers.0.feed_forward.router.noise");
  EXPECT_GT((after - before).abs().max().item<double>(), 1e-4);
}

TEST(UpdateMixture, ASelectionBiasMovesOnceAnUpdateWhateverItAccumulates) {
  auto model = model_with(mixture_of(models::SigmoidRouter{.bias_step = 0.25}, 2));
  const auto optimizer = make_optimizer(Adam{}, *model);
  const std::vector<data::Batch> batches{three_pairs(), three_pairs(), three_pairs()};
  const auto bias = weights_of(*model).at("decoder.layers.1.feed_forward.router.bias");
  update(model, *optimizer, batches, mixture_updates());
  EXPECT_NEAR(bias.abs().max().item<double>(), 0.25, 1e-9);
}

TEST(UpdateMixture, TheSelectionBiasOfAFrozenRouterStays) {
  auto model = model_with(mixture_of(models::SigmoidRouter{.bias_step = 0.25}, 2));
  const std::string first = "encoder.layers.0.feed_forward.router.",
                    second = "decoder.layers.1.feed_forward.router.";
  model->named_parameters()[first + "weight"].set_requires_grad(false);
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto one = three_pairs();
  update(model, *optimizer, {&one, 1}, mixture_updates());
  EXPECT_EQ(weights_of(*model).at(first + "bias").abs().max().item<double>(), 0.0);
  EXPECT_GT(weights_of(*model).at(second + "bias").abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace ablate::training
