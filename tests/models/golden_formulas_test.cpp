#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/position/position.h"
#include "models/position/rotary.h"
#include "tests/models/golden.h"
#include "tests/models/position/contexts.h"
#include "tests/models/routed.h"

namespace ablate::models {
namespace {

/// All numbers of nested lists, one after another.
torch::Tensor flat(const nlohmann::json& json) {
  if (json.is_number()) return torch::tensor({json.get<double>()}, torch::kDouble);
  std::vector<torch::Tensor> parts;
  for (const auto& part : json) parts.push_back(flat(part));
  return torch::cat(parts);
}

/// Sines and cosines of position 1, whose angles are the rates of a golden case.
ops::Rotation turned_by(const RotaryScaling& scaling, const nlohmann::json& one) {
  RotaryPosition position({.scaling = scaling}, one.at("width"));
  const auto turned = position.rotation(torch::tensor({1}), 2);
  expect_near(torch::atan2(turned.sine, turned.cosine).flatten(), list(one.at("rates")),
              1e-6);  // float32
  return turned;
}

TEST(GoldenFormulas, YarnTurnsAsInTransformers) {
  for (const auto& one : golden().at("yarn")) {
    const YarnScaling scaling{.factor = one.at("factor"),
                              .trained_length = one.at("length"),
                              .fast = one.at("fast"),
                              .slow = one.at("slow")};
    const auto turned = turned_by(scaling, one);
    expect_near((turned.sine.square() + turned.cosine.square()).sqrt()[0][0],
                torch::tensor(one.at("scale").get<double>(), torch::kDouble), 1e-9);
  }
}

TEST(GoldenFormulas, Llama3TurnsAsInTransformers) {
  for (const auto& one : golden().at("llama3")) {
    const Llama3Scaling scaling{.factor = one.at("factor"),
                                .trained_length = one.at("length"),
                                .low = one.at("low"),
                                .high = one.at("high")};
    turned_by(scaling, one);
  }
}

TEST(GoldenFormulas, HalvesAreMariansSinusoids) {
  const auto expected = table(golden().at("marian"));
  expect_near(sinusoidal(torch::arange(expected.size(0)), {.layout = SinusoidalLayout::halves},
                         expected.size(1)),
              expected);
}

TEST(GoldenFormulas, SandwichIsThePapersListingUpToAConstant) {
  for (const auto& one : golden().at("sandwich")) {
    auto context = kDecoder;
    context.heads = one.at("heads");
    const auto expected = table(one.at("by_distance"));  // [H, T]
    const int64_t length = expected.size(1);
    const auto bias = make_position(Sandwich{.width = one.at("width")}, context)
                          ->bias(torch::tensor({length - 1}), torch::arange(length))
                          .select(1, 0)
                          .flip(-1);
    expect_near(bias, expected - expected.slice(1, 0, 1), 1e-5);
  }
}

TEST(GoldenFormulas, KerplesPowerAndItsGradients) {
  const auto& one = golden().at("kerple_power");
  const auto position = make_position(Kerple{.kernel = KerpleKernel::power}, kDecoder);
  position->to(torch::kDouble);
  auto parameters = position->named_parameters();
  {
    const torch::NoGradGuard no_grad;
    parameters["amount"].copy_(list(one.at("amount")));
    parameters["shape"].copy_(list(one.at("shape")));
  }
  const auto bias = position->bias(torch::tensor({0}), torch::arange(6)).select(1, 0);
  expect_near(bias.detach(), table(one.at("bias")), 1e-12);
  EXPECT_EQ(bias.select(1, 0).abs().max().item<double>(), 0);
  bias.sum().backward();
  expect_near(parameters["amount"].grad(), list(one.at("amount_gradient")), 1e-12);
  expect_near(parameters["shape"].grad(), list(one.at("shape_gradient")), 1e-12);
}

constexpr int64_t kMaps = 2, kQueryRows = 4, kMapWidth = 6, kModelWidth = 8;

/// The generator's attention, whose scores have the factor `scale`.
ops::ContentAttention attention_of(double scale) {
  return {.query = values(1, {1, kMaps, kQueryRows, kMapWidth}),
          .key = values(2, {1, kMaps, kQueryRows, kMapWidth}),
          .value = values(3, {1, kMaps, kQueryRows, kMapWidth}),
          .visible = torch::ones({1, 1, kQueryRows, kQueryRows}, torch::kBool).tril(),
          .query_positions = torch::arange(kQueryRows),
          .key_positions = torch::arange(kQueryRows),
          .layer = 0,
          .factor = {.fixed = scale * std::sqrt(static_cast<double>(kMapWidth))}};
}

/// Expects the generator's outputs of a scheme whose parameters have these numbers.
void expect_attention(const PositionOptions& options, const nlohmann::json& cases,
                      const std::map<std::string, int64_t>& numbers) {
  auto position = make_position(options, {.d_model = kModelWidth,
                                          .heads = kMaps,
                                          .d_k = kMapWidth,
                                          .d_v = kMapWidth,
                                          .layers = 1,
                                          .causal = true});
  position->to(torch::kDouble);
  const torch::NoGradGuard no_grad;
  for (auto& item : position->named_parameters())
    item.value().copy_(values(numbers.at(item.key()), item.value().sizes()));
  for (const auto& one : cases)
    expect_near(position->attend(attention_of(one.at("scale"))).flatten(), list(one.at("output")),
                1e-9);
}

TEST(GoldenFormulas, TheScaleOfTransformerXlIsThatOfAllItsProducts) {
  expect_attention(TransformerXl{}, golden().at("transformer_xl"),
                   {{"content_bias", 4}, {"distance_bias", 5}, {"projection", 6}});
}

TEST(GoldenFormulas, TheScaleOfCopeIsThatOfQueriesAndKeysAlone) {
  expect_attention(Cope{.positions = 3}, golden().at("cope"), {{"table", 7}});
}

TEST(GoldenFormulas, GshardsLoadCountsFirstChoices) {
  const torch::NoGradGuard no_grad;
  const auto& one = golden().at("gshard");
  const auto mixture = identity({.active = 2, .router = GshardRouter{}});
  const auto logits = table(one.at("logits")).to(torch::kFloat);
  for (const bool training : {false, true})
    EXPECT_NEAR(
        run(*mixture, logits, {.training = training, .seed = 3}).routing.load.item<double>(),
        one.at("load").get<double>(), 1e-5);
}

/// What a mixture makes of the generator's two sequences.
Routing routed(Mixture& mixture, bool training) {
  const auto& one = golden().at("capacity");
  const auto logits = flat(one.at("logits")).to(torch::kFloat).view({2, -1, 4});  // [B, T, E]
  const auto lengths = flat(one.at("lengths")).unsqueeze(1);
  return *mixture
              .forward(logits, {.training = training,
                                .seed = 1,
                                .padding_mask = torch::arange(logits.size(1)).lt(lengths)})
              .routing;
}

/// Of two choices that each position makes, with this capacity.
void expect_kept(const LimitedCapacity& capacity, bool causal, bool training,
                 const nlohmann::json& one) {
  auto mixture = identity({.active = 2, .capacity = capacity}, causal);
  expect_near(routed(*mixture, training).kept_idx.flatten(), flat(one.at("kept")), 0.5);
}

TEST(GoldenFormulas, ALimitedExpertTakesThePositionsThatALoopGivesIt) {
  for (const auto& one : golden().at("capacity").at("limited")) {
    const double factor = one.at("factor");
    expect_kept({.factor = factor,
                 .evaluation = factor,
                 .keep = one.at("likeliest") ? Keep::likeliest : Keep::first},
                /*causal=*/false, one.at("training"), one);
  }
  for (const auto& one : golden().at("capacity").at("so_far"))
    expect_kept({.evaluation = one.at("factor").get<double>()}, /*causal=*/true, false, one);
}

TEST(GoldenFormulas, ExpertsChooseThePositionsThatALoopGivesThem) {
  const auto mixture = identity({.active = 2, .router = ExpertChoiceRouter{}});
  for (const auto& one : golden().at("capacity").at("expert_choice"))
    expect_near(routed(*mixture, one.at("training")).kept_idx.ne(4).flatten(),
                flat(one.at("chosen")), 0.5);
}

TEST(GoldenFormulas, HashesAreThoseOfIntegersThatCannotOverflow) {
  const auto router = make_router({.experts = 5, .active = 2, .router = HashRouter{}}, 4);
  const auto& one = golden().at("hash");
  const auto chosen = router->forward({.token_ids = flat(one.at("tokens")).to(torch::kLong)}, {});
  expect_near(chosen.topk_idx.flatten(), flat(one.at("experts")), 0.5);
  EXPECT_TRUE(chosen.topk_weight.eq(0.5).all().item<bool>());
  EXPECT_FALSE(chosen.probs.defined()) << "nothing is scored, so no loss can balance it";
}

TEST(GoldenFormulas, RoutersOfSplitModelsScoreByActivityNearnessAndTheirNetwork) {
  const auto& one = golden().at("split_model");
  const auto x = values(10, {kQueryRows, kModelWidth}), centres = values(13, {4, kModelWidth});
  expect_near(expert_activation(x, values(11, {4, 3, kModelWidth}), values(12, {4, 3})),
              table(one.at("oracle")), 1e-9);
  expect_near(centre_similarity(x, centres), table(one.at("similarity")), 1e-9);
  expect_near(predicted_activation(x, centres, values(14, {4, 4})), table(one.at("network")), 1e-9);
}

}  // namespace
}  // namespace ablate::models
