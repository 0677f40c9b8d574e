#include <gtest/gtest.h>

#include "models/feed_forward/router.h"
#include "models/position/rotary.h"
#include "tests/models/golden.h"
#include "tests/models/position/contexts.h"

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
  const auto x = values(10, {4, 8}), centres = values(13, {4, 8});
  expect_near(expert_activation(x, values(11, {4, 3, 8}), values(12, {4, 3})),
              table(one.at("oracle")), 1e-9);
  expect_near(centre_similarity(x, centres), table(one.at("similarity")), 1e-9);
  expect_near(predicted_activation(x, centres, values(14, {4, 4})), table(one.at("network")), 1e-9);
}

}  // namespace
}  // namespace ablate::models
