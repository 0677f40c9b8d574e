#include "models/mixer.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

StackOptions stack(const AttentionOptions& attention, bool causal) {
  auto options = tiny();
  options.layer.attention = attention;
  options.d_model = 4;
  return stack_of(options, causal ? Side::decoder : Side::encoder);
}

std::shared_ptr<Mixer> mixer_of(const StackOptions& options) {
  return make_mixer(options.layers.front(), options);
}

torch::Tensor mixed(const std::shared_ptr<Mixer>& mixer, const torch::Tensor& x,
                    const torch::Tensor& padding_mask = {}) {
  return mixer->forward(x, {}, {.padding_mask = padding_mask});
}

TEST(Average, IsTheMeanOfTheValuesSoFarOrOfAllUnpaddedOnes) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto x = torch::randn({1, 3, 4});
  for (const bool causal : {true, false}) {
    auto mixer = initialized(mixer_of(stack(Average{}, causal)));
    const auto weight = mixer->named_parameters();
    const auto values = torch::linear(x, weight["value.weight"]);
    auto mean = values.mean(1, true).expand_as(values);
    if (causal) mean = values.cumsum(1) / torch::tensor({1.0F, 2.0F, 3.0F}).view({1, 3, 1});
    EXPECT_LT(largest_difference(mixed(mixer, x), torch::linear(mean, weight["out.weight"])), 1e-6);
  }
}

TEST(Convolution, LooksAtItsWindowAlone) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto x = torch::randn({1, 9, 4});
  auto moved = x.clone();
  moved.select(1, 4).add_(1.0);
  const auto reached = [&](bool causal) {
    auto mixer = initialized(mixer_of(stack(Convolution{.width = 3}, causal)));
    const auto difference = (mixed(mixer, x) - mixed(mixer, moved)).abs().amax(-1).gt(0)[0];
    std::vector<int64_t> positions;
    for (int64_t t = 0; t < 9; ++t)
      if (difference[t].item<bool>()) positions.push_back(t);
    return positions;
  };
  EXPECT_EQ(reached(true), (std::vector<int64_t>{4, 5, 6}));
  EXPECT_EQ(reached(false), (std::vector<int64_t>{3, 4, 5}));
}

TEST(LstmMixer, ReadsBackwardsFromTheLastUnpaddedPosition) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  auto mixer = initialized(mixer_of(stack(Lstm{}, false)));
  const auto x = torch::randn({1, 3, 4});
  const auto padded = torch::cat({x, torch::randn({1, 2, 4})}, 1);
  const auto padding_mask = torch::tensor({{true, true, true, false, false}});
  const auto alone = mixed(mixer, x);
  EXPECT_LT(largest_difference(alone, mixed(mixer, padded, padding_mask).slice(1, 0, 3)), 1e-6);
  EXPECT_GT(largest_difference(alone, mixed(mixer, padded).slice(1, 0, 3)), 1e-3);
}

TEST(LstmMixer, HasAMatrixForEachGate) {
  const auto mixer = mixer_of(stack(Lstm{}, true));
  for (const auto& module : mixer->modules()) {
    const auto* own = dynamic_cast<const Module*>(module.get());
    if (own == nullptr) continue;
    for (const auto& parameter : own->own_parameters()) {
      if (parameter.role != Role::matrix) continue;
      EXPECT_EQ(parameter.maps.rows, (std::vector<int64_t>{4, 4, 4, 4})) << parameter.name;
    }
  }
}

TEST(GroupedHeads, EqualFullHeadsWhoseKeysAndValuesAreRepeated) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  auto few = stack(MultiHead{.heads = 4, .key_value_heads = 2}, false);
  auto all = stack(MultiHead{.heads = 4}, false);
  auto grouped = initialized(mixer_of(few)), full = initialized(mixer_of(all));
  const auto from = grouped->named_parameters();
  auto to = full->named_parameters();
  const auto packed = from["qkv.weight"];  // [4 + 2 + 2, 4], heads of width 1
  const auto twice = [&](int64_t begin) {
    return packed.slice(0, begin, begin + 2).repeat_interleave(2, 0);
  };
  to["qkv.weight"].copy_(torch::cat({packed.slice(0, 0, 4), twice(4), twice(6)}));
  to["out.weight"].copy_(from["out.weight"]);
  const auto x = torch::randn({2, 5, 4});
  EXPECT_LT(largest_difference(mixed(grouped, x), mixed(full, x)), 1e-6);
}

}  // namespace
}  // namespace ablate::models
