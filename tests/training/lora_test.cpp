#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/training/trainer_test_case.h"
#include "training/checkpoint_selection.h"

namespace ablate::training {
namespace {

/// [rows, columns] of golden/lora.py.
torch::Tensor waves(int64_t rows, int64_t columns, double start) {
  return torch::sin(start + 0.7 * torch::arange(rows, torch::kDouble).unsqueeze(1) +
                    0.4 * torch::arange(columns, torch::kDouble));
}

double error(const torch::Tensor& actual, const nlohmann::json& expected) {
  const auto wanted = torch::tensor(expected.get<std::vector<double>>(), torch::kDouble);
  return (actual.detach().flatten() - wanted).abs().max().item<double>();
}

TEST(Lora, StepsAreThoseOfPeft) {
  const auto golden = nlohmann::json::parse(
      std::ifstream(std::string(ABLATE_SOURCE) + "/tests/training/golden/lora.json"));
  const std::vector<std::pair<std::string, OptimizerOptions>> optimizers = {
      {"sgd", Sgd{.momentum = 0.9}}, {"adamw", AdamW{Adam{.beta2 = 0.98, .epsilon = 1e-9}, 0.1}}};
  for (const auto& [name, options] : optimizers) {
    models::Linear map(4, std::vector<int64_t>{3}, /*with_bias=*/true);
    map->adapt(2, 5 / 2.0);
    map->to(torch::kDouble);
    const auto weights = weights_of(*map);
    {
      const torch::NoGradGuard no_grad;
      torch::Tensor(weights.at("weight")).copy_(waves(3, 4, 1)).set_requires_grad(false);
      torch::Tensor(weights.at("bias")).copy_(waves(1, 3, 2)[0]).set_requires_grad(false);
      torch::Tensor(weights.at("lora_a")).copy_(waves(2, 4, 3));
      torch::Tensor(weights.at("lora_b")).zero_();
    }
    const auto optimizer = make_optimizer(options, *map);
    const auto x = waves(5, 4, 4), factors = waves(5, 3, 5);
    for (const auto& step : golden.at(name).at("steps")) {
      optimizer->clear_gradients();
      (map(x) * factors).sum().backward();
      optimizer->step(0.1);
      EXPECT_LT(error(weights.at("lora_a"), step[0]), 1e-12) << name;
      EXPECT_LT(error(weights.at("lora_b"), step[1]), 1e-12) << name;
    }
    EXPECT_LT(error(map(x), golden.at(name).at("output")), 1e-12) << name;
    Weights named;
    for (const auto& [key, weight] : weights) named["map." + key] = weight;
    const auto merged = merge_adapters(named, {.rank = 2, .alpha = 5});
    EXPECT_EQ(merged.size(), 2U);
    EXPECT_LT(error(merged.at("map.weight"), golden.at(name).at("merged")), 1e-12) << name;
  }
}

const TrainingOptions kEverywhere{.lora = {.rank = 2, .alpha = 3, .on = {"layers"}}};

TEST(Lora, AtTheStartOutputsAreThoseOfTheModelBitForBit) {
  const auto source = models::ids({{4, 5, 6, 7, 8}, {9, 10, 11, 0, 0}});
  const auto target = models::ids({{1, 6, 5, 7}, {1, 9, 8, 0}});
  const torch::NoGradGuard no_grad;
  for (const auto& [name, options] : models::variants()) {
    auto model = models::make(options);
    // LibTorch's product of a batch depends on whether a weight is trained.
    for (auto& weight : model->parameters()) weight.set_requires_grad(false);
    const models::ForwardContext context{.training = true, .dropout = 0.1, .seed = 3};
    const auto before = model->hidden(source, target, context).hidden;
    choose_parts(*model, kEverywhere, 1);
    EXPECT_TRUE(torch::equal(model->hidden(source, target, context).hidden, before)) << name;
    const auto plain = merge_adapters(weights_of(*model), kEverywhere.lora);
    for (const auto& item : models::make(options)->named_parameters())
      EXPECT_TRUE(torch::equal(plain.at(item.key()), item.value())) << name << ": " << item.key();
  }
}

TEST(Lora, MergedWeightsComputeWhatTheAdaptersDo) {
  const auto source = models::ids({{4, 5, 6, 7, 8}, {9, 10, 11, 0, 0}});
  const auto target = models::ids({{1, 6, 5, 7}, {1, 9, 8, 0}});
  for (const auto& [name, options] : models::variants()) {
    auto model = models::make(options), plain = models::make(options);
    const auto before = model->forward(source, target);
    choose_parts(*model, kEverywhere, 1);
    torch::manual_seed(2);
    for (const auto& [key, weight] : weights_of(*model))
      if (key.ends_with("lora_b")) torch::Tensor(weight).detach().normal_(0, 0.02);
    load_weights(*plain, merge_adapters(weights_of(*model), kEverywhere.lora));
    const auto adapted = model->forward(source, target);
    EXPECT_LT(models::rounding_difference(plain->forward(source, target), adapted), 2e-5) << name;
    EXPECT_GT(models::largest_difference(before, adapted), 1e-3) << name;
  }
}

std::string problem_of(const LoraOptions& lora) {
  std::string text;
  for (const auto& [key, why] : part_problems(*tiny(), {.lora = lora}))
    text += key + " " + why + "\n";
  return text;
}

TEST(Lora, RefusesNamesOfNothingEmbeddingsAndRanksAboveThoseOfTheMaps) {
  EXPECT_EQ(problem_of({.rank = 8}), "");
  EXPECT_EQ(problem_of({.rank = 9, .on = {"encoder.layers.0.attention.qkv"}}),
            "lora.rank is 9, and encoder.layers.0.attention.qkv.weight has the rank 8\n");
  const std::string maps =
      ", and the linear maps that can have an adapter are: decoder.layers.0.attention.out, "
      "decoder.layers.0.attention.qkv, decoder.layers.0.cross_attention.key_value, "
      "decoder.layers.0.cross_attention.out, decoder.layers.0.cross_attention.query, "
      "decoder.layers.0.feed_forward.down, decoder.layers.0.feed_forward.up, "
      "encoder.layers.0.attention.out, encoder.layers.0.attention.qkv, "
      "encoder.layers.0.feed_forward.down, encoder.layers.0.feed_forward.up\n";
  EXPECT_EQ(problem_of({.rank = 2, .on = {"embedding"}}), "lora.on names embedding" + maps);
  EXPECT_EQ(problem_of({.rank = 2, .on = {"query", "gate"}}), "lora.on names gate" + maps);
  EXPECT_EQ(problem_of({.rank = 2, .train = {"head"}}).find("lora.train names head, and"), 0U);
  EXPECT_EQ(problem_of({.rank = 2, .on = {"up"}, .train = {"embedding", "encoder"}}),
            "lora.train names encoder.layers.0.feed_forward.up.weight, which has an adapter\n");
}

/// Training with adapters beside the norms.
class LoraTest : public TrainerTest {
 protected:
  LoraTest() {
    input_.options.lora = {
        .rank = 2, .on = {"attention", "feed_forward"}, .train = {"attention_norm"}};
  }
  models::Transformer adapted() const { return tiny(input_.options); }
  TrainerInput input_ = input();
};

TEST_F(LoraTest, OnlyAdaptersAndWhatIsNamedMoveWithEveryOptimizer) {
  const std::vector<OptimizerOptions> optimizers = {Sgd{}, Adam{}, AdamW{Adam{}, 0.1}, Lion{},
                                                    Muon{.weight_decay = 0.1}};
  for (const auto& optimizer : optimizers) {
    input_.options.optimizer = optimizer;
    input_.options.accumulate = 2;
    input_.checkpoints = folder() / std::to_string(optimizer.index());
    const auto start = adapted();
    train(input_, adapted());
    for (const auto& [name, weight] : last_checkpoint(input_.checkpoints).model) {
      const bool trained =
          models::is_adapter(name) || name.find(".attention_norm.") != std::string::npos;
      const bool moved = !torch::equal(weights_of(*start).at(name), weight);
      EXPECT_EQ(moved, trained) << name << " " << optimizer.index();
    }
  }
}

TEST_F(LoraTest, TrainingGoesOnBitForBit) {
  input_.options.ema = 0.9;
  expect_goes_on(input_);
}

TEST_F(LoraTest, LearnsInBfloat16AsInFloat) {
  input_.options.steps = 20;  // later, rounding leads to other weights that are as good
  input_.options.schedule = Constant{{.peak = 1e-2}};
  input_.dropout = 0;
  const auto exact = train(input_, adapted()).train_loss;
  input_.checkpoints = folder() / "rounded";
  input_.precision = Precision::bf16;
  const auto rounded = train(input_, adapted()).train_loss;
  EXPECT_NEAR(rounded, exact, 0.01 * exact);
  input_.checkpoints = folder() / "first";
  input_.options.steps = 1;
  EXPECT_LT(exact, 0.8 * train(input_, adapted()).train_loss);
}

TEST_F(LoraTest, SelectedWeightsAreMergedAndAveragesAreThoseOfMergedOnes) {
  train(input_, adapted());
  auto plain = tiny();
  auto& options = input_.options;
  const auto at = [&](int64_t step) {
    return select_weights(input_.checkpoints, std::to_string(step), options).weights;
  };
  load_weights(*plain, at(12));
  options.average = 2;
  const std::vector<Weights> both{at(8), at(12)};
  const auto mean = select_weights(input_.checkpoints, "averaged", options).weights;
  for (const auto& [name, weight] : average(both))
    EXPECT_TRUE(torch::equal(mean.at(name), weight)) << name;
  EXPECT_FALSE(torch::equal(at(8).at("encoder.layers.0.feed_forward.up.weight"),
                            at(12).at("encoder.layers.0.feed_forward.up.weight")));
}

TEST_F(LoraTest, AnExponentialAverageIsThatOfMergedWeights) {
  auto& options = input_.options;
  options.ema = 0.5;
  options.save_every = 1;
  options.keep = 12;
  train(input_, adapted());
  auto expected = merge_adapters(weights_of(*adapted()), options.lora);
  for (int64_t step = 1; step <= 12; ++step) {
    const auto now = select_weights(input_.checkpoints, std::to_string(step), options).weights;
    for (auto& [name, weight] : expected) weight = (weight + now.at(name)).detach() / 2;
  }
  const auto found = select_weights(input_.checkpoints, "", options).weights;
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, weight] : expected)
    EXPECT_LT((found.at(name) - weight).abs().max().item<double>(), 1e-6) << name;
}

// A map of D to D has an adapter of 2 R D multiplications a position. No gradient goes below the
// adapter of the first layer's attention.
TEST(Lora, FlopsAreThoseOfAdaptersWithoutGradientsOfTheWeightsBelow) {
  const auto options = models::tiny("family: decoder_only, layers: 1");
  constexpr models::PassExtent kPassExtent{.rows = 3, .target = 7};
  models::Transformer model(options, models::Vocabulary{20, 20, 0});
  const double full = models::PassFlops(*model).training(kPassExtent);
  choose_parts(*model, {.lora = {.rank = 2, .on = {"attention.out"}}}, 1);
  const double frozen = 3 * 7 * (4 * 16 * 16 + 2 * 16 * 24 + 16 * 20);
  const double below = 3 * 7 * (4 * 16 * 16 + 2 * (2 * 16 * 7)), half = 3 * 7 * 2 * 16;
  EXPECT_EQ(models::PassFlops(*model).training(kPassExtent),
            full - 2 * (frozen + below) + 2 * (2 + 3) * half);
  EXPECT_EQ(models::parameter_count(*model),
            models::parameter_count(*models::Transformer(options, models::Vocabulary{20, 20, 0})));
  EXPECT_EQ(trained_parameter_count(*model), 2 * 2 * 16);
}

}  // namespace
}  // namespace ablate::training
