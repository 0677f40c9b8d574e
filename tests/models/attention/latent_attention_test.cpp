#include <gtest/gtest.h>

#include "models/mixer.h"
#include "models/position/rotary.h"
#include "tests/models/golden.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models::latent {
namespace {

// golden/formulas.py documents these widths.
constexpr int64_t kHeads = 2, kLength = 4, kModel = 8, kRank = 5, kShared = 4, kOwn = 3, kValue = 6;

/// Transformers' order in a head is the own part before the other. // [H(a + b), N]
torch::Tensor second_parts_first(const torch::Tensor& weight, int64_t first) {
  const auto by_head = weight.unflatten(0, {kHeads, -1});
  return torch::cat({by_head.slice(1, first), by_head.slice(1, 0, first)}, 1).flatten(0, 1);
}

torch::Tensor by_part(const torch::Tensor& weight, int64_t first) {
  const auto by_head = weight.unflatten(0, {kHeads, -1});
  return torch::cat(
      {by_head.slice(1, 0, first).flatten(0, 1), by_head.slice(1, first).flatten(0, 1)});
}

/// The generator's attention, and its output.
struct Oracle {
  std::shared_ptr<Mixer> attention;
  torch::Tensor output;  // [T, D]
};

Oracle oracle(const nlohmann::json& json) {
  Latent options{.heads = kHeads, .rank = kRank, .d_k = kOwn, .shared_d_k = kShared, .d_v = kValue};
  if (!json.at("query_rank").is_null()) options.query_rank = json.at("query_rank");
  auto stack = stack_of(tiny(), Side::decoder);
  stack.d_model = kModel;
  stack.bias = false;
  for (auto& layer : stack.layers) layer.norm.epsilon = 1e-6;
  auto attention = options.make(stack);
  attention->to(torch::kDouble);
  auto ours = attention->named_parameters();
  const std::map<std::string, std::string> names{{"q_proj", "query"},
                                                 {"q_a_proj", "query_latent"},
                                                 {"q_a_layernorm", "query_norm"},
                                                 {"q_b_proj", "query"},
                                                 {"kv_a_proj_with_mqa", "latent"},
                                                 {"kv_a_layernorm", "latent_norm"},
                                                 {"kv_b_proj", "expand"},
                                                 {"o_proj", "out"}};
  const torch::NoGradGuard no_grad;
  int64_t number = 20;
  for (const std::string foreign : json.at("parameters")) {
    const auto name = names.at(foreign.substr(0, foreign.find('.')));
    auto& parameter = ours[name + ".weight"];
    const auto theirs = values(number++, parameter.sizes());
    parameter.copy_(name == "query"    ? second_parts_first(theirs, kOwn)
                    : name == "expand" ? by_part(theirs, kOwn)
                                       : theirs);
  }
  return {std::move(attention), table(json.at("output"))};
}

std::vector<Oracle> oracles() {
  std::vector<Oracle> all;
  for (const auto& one : golden().at("latent")) all.push_back(oracle(one));
  return all;
}

ops::AttentionPosition at(int64_t from, int64_t count) {
  RotaryPosition rotary({}, kShared);
  const auto places = torch::arange(from, from + count);
  return {.rotation = rotary.rotation(places, kLength),
          .query_positions = places,
          .key_positions = torch::arange(from + count)};
}

constexpr double kRounding = 1e-6;  // of norms and angles in float32

TEST(Latent, IsDeepSeekV3sOfTransformers) {
  const torch::NoGradGuard no_grad;
  const auto x = values(15, {1, kLength, kModel});
  for (const auto& [attention, output] : oracles())
    EXPECT_LT(largest_difference(attention->forward(x, at(0, kLength), {})[0], output), kRounding);
}

TEST(Latent, KeepsOneVectorOfAPositionAndReadsTheSame) {
  const torch::NoGradGuard no_grad;
  const auto x = values(15, {1, kLength, kModel});
  for (const auto& [attention, output] : oracles()) {
    auto cache = attention->empty_cache(x);
    for (int64_t t = 0; t < kLength; ++t)
      EXPECT_LT(largest_difference(attention->step(x.narrow(1, t, 1), cache, at(t, 1), {})[0][0],
                                   output[t]),
                kRounding);
    EXPECT_EQ(cache.blocks[0][0].sizes(), (std::vector<int64_t>{1, 1, kLength, kShared + kRank}));
    EXPECT_FALSE(cache.blocks[0][1].defined());
  }
}

}  // namespace
}  // namespace ablate::models::latent
