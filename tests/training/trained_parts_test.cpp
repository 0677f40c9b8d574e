#include "training/trained_parts.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"
#include "tests/training/trainer_test_case.h"
#include "training/part_names.h"

namespace ablate::training {
namespace {

models::Transformer two_layers(const std::string& more = "") {
  return models::make(models::tiny("d_model: 8, feed_forward.d_hidden: 8, " + more), 10);
}

std::string problem_of(const models::Transformer& model, const TrainingOptions& options) {
  std::string text;
  for (const auto& [key, why] : part_problems(*model, options)) text += key + " " + why + "\n";
  return text;
}

std::vector<std::string> frozen_in(const models::Transformer& model) {
  std::vector<std::string> names;
  for (const auto& item : model->named_parameters())
    if (!item.value().requires_grad()) names.push_back(item.key());
  return names;
}

TEST(Freezing, TakesNamesWholeWordsOfThemAndRangesOfLayers) {
  const auto frozen = [](const std::vector<std::string>& words) {
    auto model = two_layers("tying: none");
    choose_parts(*model, {.freeze = words}, 1);
    return frozen_in(model);
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(frozen({"source_embedding"}), Names{"source_embedding"});
  EXPECT_EQ(
      frozen({"layers.0-1.attention.qkv.weight"}),
      (Names{"encoder.layers.0.attention.qkv.weight", "encoder.layers.1.attention.qkv.weight",
             "decoder.layers.0.attention.qkv.weight", "decoder.layers.1.attention.qkv.weight"}));
  EXPECT_EQ(frozen({"decoder.layers.1.cross_attention.out"}),
            (Names{"decoder.layers.1.cross_attention.out.weight",
                   "decoder.layers.1.cross_attention.out.bias"}));
  EXPECT_EQ(frozen({"encoder.layers.0-1"}), frozen({"encoder.layers.0", "encoder.layers.1"}));
}

TEST(Freezing, OfATiedEmbeddingFreezesTheOutput) {
  auto model = two_layers();
  choose_parts(*model, {.freeze = {"embedding"}}, 1);
  EXPECT_EQ(frozen_in(model), std::vector<std::string>{"embedding"});
  EXPECT_FALSE(model->output_weight().requires_grad());
}

TEST(Freezing, RefusesNamesOfNothingAndOfEverything) {
  const auto model = two_layers();
  const std::string all =
      "embedding, encoder.layers.0-1.attention.qkv, encoder.layers.0-1.attention.out, "
      "encoder.layers.0-1.attention_norm, encoder.layers.0-1.feed_forward.up, "
      "encoder.layers.0-1.feed_forward.down, encoder.layers.0-1.feed_forward_norm, "
      "decoder.layers.0-1.attention.qkv";
  const auto text = problem_of(model, {.freeze = {"encoder.layers.0-2"}});
  EXPECT_EQ(text.find("freeze names encoder.layers.2, and the model has: " + all), 0U) << text;
  EXPECT_EQ(text.find('\n') + 1, text.size()) << "one problem";
  for (const char* words : {"output", "encoder.layers.1-0", "layers.0-x", "mbedding", "embed"})
    EXPECT_TRUE(says(problem_of(model, {.freeze = {words}}), "freeze names")) << words;
  EXPECT_EQ(problem_of(model, {.freeze = {"embedding", "encoder", "decoder"}}),
            "freeze names all weights of the model; leave one to train\n");
  EXPECT_EQ(problem_of(model, {.freeze = {"embedding", "encoder"}}), "");
  EXPECT_EQ(problem_of(model, {.steps = 0, .freeze = {"nothing"}}), "") << "nothing is trained";
}

/// Training with some of the weights frozen.
class FrozenTest : public TrainerTest {
 protected:
  FrozenTest() { input_.options.freeze = {"embedding", "encoder.layers.0.attention"}; }
  models::Transformer frozen() const { return tiny(input_.options); }
  TrainerInput input_ = input();
};

const std::vector<OptimizerOptions> kOptimizers = {Sgd{.weight_decay = 0.1}, Adam{},
                                                   AdamW{Adam{}, 0.1}, Lion{.weight_decay = 0.1},
                                                   Muon{.weight_decay = 0.1}};

TEST_F(FrozenTest, WeightsDoNotMoveOrDecayAndHaveNoState) {
  for (const auto& optimizer : kOptimizers) {
    input_.options.optimizer = optimizer;
    input_.options.ema = 0.9;
    input_.checkpoints = folder() / std::to_string(optimizer.index());
    const auto model = frozen(), start = frozen();
    train(input_, model);
    auto last = last_checkpoint(input_.checkpoints);
    const auto averages = extract_ema(last.optimizer);
    for (const auto& item : start->named_parameters()) {
      const auto& name = item.key();
      const bool same = torch::equal(last.model.at(name), item.value());
      EXPECT_EQ(same, is_named(name, "embedding") || is_named(name, "encoder.layers.0.attention"))
          << name;
      EXPECT_EQ(torch::equal(averages.at(name), item.value()), same) << name;
      const bool has_state = std::ranges::any_of(
          last.optimizer, [&](const auto& kept) { return kept.first.ends_with("." + name); });
      EXPECT_EQ(has_state, !same) << name;
    }
  }
}

TEST_F(FrozenTest, GradientsDoNotCountInTheNorm) {
  auto model = frozen(), whole = tiny();
  const auto batch = data::collate(examples_, std::vector<int64_t>{0, 1, 2, 3});
  const UpdateOptions options{.learning_rate = 0.1,
                              .loss = {.smoothing = 0},
                              .dropout = 0.1,
                              .dropout_seed = 3,
                              .precision = Precision::fp32};
  const auto all = gradient_norm(whole, batch, options);
  const auto some = gradient_norm(model, batch, options);
  // The same gradients, less those of the frozen weights.
  const auto optimizer = make_optimizer(Sgd{}, *whole);
  const auto before = whole->named_parameters();
  std::map<std::string, torch::Tensor> start;
  for (const auto& item : before) start[item.key()] = item.value().detach().clone();
  update(whole, *optimizer, {&batch, 1}, options);
  double sum = 0, left = 0;
  for (const auto& item : whole->named_parameters()) {
    const double square =
        ((item.value() - start.at(item.key())) / 0.1).square().sum().item<double>();
    sum += square;
    if (model->named_parameters()[item.key()].requires_grad()) left += square;
  }
  EXPECT_NEAR(std::sqrt(sum), all, 1e-4 * all);
  EXPECT_NEAR(std::sqrt(left), some, 1e-4 * all);
  EXPECT_LT(some, 0.9 * all);
}

TEST_F(FrozenTest, TrainingGoesOnBitForBit) {
  input_.options.ema = 0.9;
  expect_goes_on(input_);
}

}  // namespace
}  // namespace ablate::training
