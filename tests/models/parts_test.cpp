#include <gtest/gtest.h>

#include "models/mixer.h"
#include "models/residual.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

StackOptions stack(const AttentionOptions& attention, bool causal) {
  auto options = tiny();
  options.attention = attention;
  options.d_model = 4;
  return stack_of(options, causal ? Side::decoder : Side::encoder);
}

torch::Tensor mixed(const std::shared_ptr<Mixer>& mixer, const torch::Tensor& x,
                    const torch::Tensor& padding_mask = {}) {
  return mixer->forward(x, padding_mask, {}, nullptr);
}

TEST(Average, IsTheMeanOfTheValuesSoFarOrOfAllRealOnes) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const auto x = torch::randn({1, 3, 4});
  for (const bool causal : {true, false}) {
    auto mixer = initialized(make_mixer(stack(Average{}, causal)));
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
    auto mixer = initialized(make_mixer(stack(Convolution{.width = 3}, causal)));
    const auto difference = (mixed(mixer, x) - mixed(mixer, moved)).abs().amax(-1).gt(0)[0];
    std::vector<int64_t> positions;
    for (int64_t t = 0; t < 9; ++t)
      if (difference[t].item<bool>()) positions.push_back(t);
    return positions;
  };
  EXPECT_EQ(reached(true), (std::vector<int64_t>{4, 5, 6}));
  EXPECT_EQ(reached(false), (std::vector<int64_t>{3, 4, 5}));
}

TEST(LstmMixer, ReadsBackwardsFromTheLastRealPosition) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  auto mixer = initialized(make_mixer(stack(Lstm{}, false)));
  const auto x = torch::randn({1, 3, 4});
  const auto padded = torch::cat({x, torch::randn({1, 2, 4})}, 1);
  const auto padding_mask = torch::tensor({{true, true, true, false, false}});
  const auto alone = mixed(mixer, x);
  EXPECT_LT(largest_difference(alone, mixed(mixer, padded, padding_mask).slice(1, 0, 3)), 1e-6);
  EXPECT_GT(largest_difference(alone, mixed(mixer, padded).slice(1, 0, 3)), 1e-3);
}

TEST(GroupedHeads, EqualFullHeadsWhoseKeysAndValuesAreRepeated) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  auto few = stack(MultiHead{.heads = 4, .key_value_heads = 2}, false);
  auto all = stack(MultiHead{.heads = 4}, false);
  auto grouped = initialized(make_mixer(few)), full = initialized(make_mixer(all));
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

TEST(Norm, RmsDividesByTheRootOfTheMeanSquare) {
  Norm norm(NormKind::rms, 2, true);
  const auto y = norm->forward(torch::tensor({{3.0F, 4.0F}}), {});
  EXPECT_NEAR(y[0][0].item<double>(), 3 / std::sqrt(12.5), 1e-5);
  EXPECT_NEAR(y[0][1].item<double>(), 4 / std::sqrt(12.5), 1e-5);
  EXPECT_FALSE(norm->bias.defined());
}

TEST(BatchNorm, TakesItsStatisticsFromRealPositionsAndEvaluatesWithRunningOnes) {
  Norm norm(NormKind::batch, 1, true);
  const auto x = torch::tensor({{{1.0F}, {3.0F}, {500.0F}}});
  const auto padding_mask = torch::tensor({{true, true, false}});
  const auto y = norm->forward(x, {.training = true, .padding_mask = padding_mask});
  EXPECT_NEAR(y[0][0].item<double>(), -1, 1e-4);
  EXPECT_NEAR(y[0][1].item<double>(), 1, 1e-4);
  const auto buffers = norm->named_buffers();
  EXPECT_NEAR(buffers["running_mean"].item<double>(), 0.2, 1e-6);
  EXPECT_NEAR(buffers["running_variance"].item<double>(), 0.9 + 0.1, 1e-6);
  const auto later = norm->forward(x, {.padding_mask = padding_mask});
  EXPECT_NEAR(later[0][0].item<double>(), 0.8, 1e-4);
  EXPECT_NEAR(norm->named_buffers()["running_mean"].item<double>(), 0.2, 1e-6);
}

TEST(BatchNorm, BreaksCausalityInTrainingAndNotInEvaluation) {
  auto options = tiny();
  options.norm.kind = NormKind::batch;
  auto model = make(options);
  const auto early = [&](std::vector<int64_t> target, const ForwardContext& context) {
    return model->hidden(ids({{5, 6}}), ids({target}), context).hidden.slice(1, 0, 2).detach();
  };
  const ForwardContext training{.training = true}, evaluating;
  EXPECT_GT(largest_difference(early({1, 8, 9, 10}, training), early({1, 8, 11, 12}, training)),
            1e-4);
  EXPECT_EQ(largest_difference(early({1, 8, 9, 10}, evaluating), early({1, 8, 11, 12}, evaluating)),
            0.0);
}

TEST(Skip, ALearnedOneStartsAsThePlainOne) {
  torch::NoGradGuard no_grad;
  auto learned = tiny();
  learned.residual = Skip::learned;
  auto with = make(learned), without = make(tiny());
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  EXPECT_EQ(largest_difference(with->forward(source, target), without->forward(source, target)),
            0.0);
  EXPECT_EQ(parameter_count(*with) - parameter_count(*without), 2 * 2 + 2 * 3);
}

TEST(Skip, WithoutItAnEmptySubLayerLeavesNothing) {
  torch::NoGradGuard no_grad;
  auto options = tiny();
  options.residual = Skip::off;
  options.norm.placement = NormPlacement::pre;
  auto model = make(options);
  for (auto& item : model->named_parameters())
    if (item.key().find("feed_forward.down") != std::string::npos) item.value().zero_();
  const auto output = model->encode(ids({{5, 6, 7}})).output;
  EXPECT_EQ(output.abs().max().item<double>(), 0.0);
}

TEST(Bias, SwitchedOffLeavesNoBias) {
  auto options = tiny();
  options.bias = false;
  for (const auto& item : make(options)->named_parameters())
    EXPECT_FALSE(item.key().ends_with("bias")) << item.key();
}

TEST(Tying, EachLinkIsOneMatrix) {
  struct Links {
    bool source_target, target_output, source_output;
  };
  const std::vector<std::pair<Tying, Links>> expected = {{Tying::three_way, {true, true, true}},
                                                         {Tying::embeddings, {true, false, false}},
                                                         {Tying::target, {false, true, false}},
                                                         {Tying::source, {false, false, true}},
                                                         {Tying::none, {false, false, false}}};
  for (const auto& [tying, links] : expected) {
    auto options = tiny();
    options.tying = tying;
    auto model = make(options);
    const auto &source = model->source_embedding(), &target = model->target_embedding();
    const auto& output = model->output_weight();
    EXPECT_EQ(source.is_same(target), links.source_target) << static_cast<int>(tying);
    EXPECT_EQ(target.is_same(output), links.target_output) << static_cast<int>(tying);
    EXPECT_EQ(source.is_same(output), links.source_output) << static_cast<int>(tying);
  }
}

TEST(EmbeddingScale, SwitchedOffEmbeddingsAreSmallerByTheRootOfTheWidth) {
  torch::NoGradGuard no_grad;
  auto scaled = tiny();
  scaled.layers = 1;
  scaled.position = NoPosition{};
  scaled.attention = NoAttention{};
  scaled.cross_attention = MultiHead{.heads = 2};
  scaled.feed_forward = NoFeedForward{};
  auto plain = scaled;
  plain.embedding_scale = false;
  EXPECT_LT(largest_difference(make(scaled)->encode(ids({{5, 6}})).output,
                               4 * make(plain)->encode(ids({{5, 6}})).output),
            1e-6);
}

}  // namespace
}  // namespace ablate::models
