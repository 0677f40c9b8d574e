#include "models/stack/layer.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

/// What one pre-norm layer of an encoder makes of x, with its parameters named `without` at zero.
torch::Tensor through(Block block, const torch::Tensor& x, const std::string& without = "none") {
  auto options = tiny("norm.placement: pre");
  options.layer.block = block;
  Layer layer(stack_of(options, Side::encoder), 0);
  initialize(*layer, 1);
  torch::NoGradGuard no_grad;
  for (auto& item : layer->named_parameters())
    if (item.key().starts_with(without)) item.value().zero_();
  return layer->forward(x, {.position = {}}, {}).output;
}

TEST(ParallelBlock, AddsWhatEverySubLayerMakesOfTheSameInput) {
  torch::manual_seed(1);
  const auto x = torch::randn({2, 3, 16});
  const auto attention = through(Block::sequential, x, "feed_forward.down") - x;
  const auto feed_forward = through(Block::sequential, x, "attention.out") - x;
  EXPECT_LT(largest_difference(through(Block::parallel, x), x + attention + feed_forward), 1e-5);
  EXPECT_GT(largest_difference(through(Block::sequential, x), x + attention + feed_forward), 1e-3);
}

TEST(ParallelBlock, HasOneNorm) {
  auto options = tiny("norm.placement: pre");
  const auto sequential = parameter_count(*make(options));
  options.layer.block = Block::parallel;
  EXPECT_EQ(sequential - parameter_count(*make(options)), (2 * 1 + 2 * 2) * 2 * 16);
}

/// `from`'s parameters, as far as `to` has their names.
void copy_parameters(Transformer& from, Transformer& to) {
  torch::NoGradGuard no_grad;
  const auto theirs = from->named_parameters();
  for (auto& item : to->named_parameters())
    if (const auto* found = theirs.find(item.key())) item.value().copy_(*found);
}

void copy_layer(Transformer& model, const std::string& from, const std::string& to,
                const std::string& part = "") {
  torch::NoGradGuard no_grad;
  auto all = model->named_parameters();
  for (auto& item : all)
    if (item.key().starts_with(to + part))
      item.value().copy_(all[from + item.key().substr(to.size())]);
}

void expect_same_outputs(Transformer& a, Transformer& b) {
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  EXPECT_EQ(largest_difference(a->forward(source, target), b->forward(source, target)), 0.0);
}

TEST(SharedLayers, AreLayersWithTheSameWeights) {
  for (const auto order : {ShareOrder::cycle, ShareOrder::sequence}) {
    auto options = tiny("layers: 4");
    auto apart = make(options);
    options.share = {.layers = 2, .order = order};
    auto shared = make(options);
    copy_parameters(shared, apart);
    const std::vector<int> which =
        order == ShareOrder::cycle ? std::vector{0, 1, 0, 1} : std::vector{0, 0, 1, 1};
    for (const std::string side : {"encoder", "decoder"})
      for (int depth = 3; depth >= 0; --depth)
        copy_layer(apart,
                   side + ".layers." + std::to_string(which[static_cast<size_t>(depth)]) + ".",
                   side + ".layers." + std::to_string(depth) + ".");
    expect_same_outputs(shared, apart);
    options.layers = 2;
    options.share = {};
    EXPECT_EQ(parameter_count(*shared), parameter_count(*make(options)));
  }
}

/// How often passes ended after each number of layers, over 300 passes.
std::map<int64_t, int64_t> depths_of_passes(Transformer& model, bool training) {
  const torch::NoGradGuard no_grad;
  std::map<int64_t, int64_t> passes;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    int64_t layers = 0;
    const Observer observer{.layer_output = [&](const torch::Tensor&) { ++layers; }};
    model->hidden({}, ids({{1, 8, 9}}),
                  {.training = training, .seed = seed, .observer = &observer});
    ++passes[layers];
  }
  return passes;
}

TEST(DrawnRounds, EndPassesInTrainingAfterEachNumberOfRoundsAsOften) {
  auto options = tiny("family: decoder_only, layers: 6, share: {layers: 2, fewest: 2}");
  auto model = make(options);
  const auto passes = depths_of_passes(model, true);
  EXPECT_EQ(passes.size(), 3);
  for (const int64_t layers : {2, 4, 6})
    EXPECT_NEAR(static_cast<double>(passes.at(layers)), 100, 35) << layers;
  EXPECT_EQ(depths_of_passes(model, false), (std::map<int64_t, int64_t>{{6, 300}}));
}

TEST(DrawnRounds, AreThoseOfAModelWithFewerLayers) {
  const torch::NoGradGuard no_grad;
  auto options = tiny("layers: 2, share.layers: 1");
  auto fewer = make(options);
  options.layers = 3;
  auto all = make(options);
  options.share.fewest = 2;
  auto drawn = make(options);
  copy_parameters(fewer, drawn);
  copy_parameters(all, drawn);
  const auto source = ids({{5, 6, 7, 2}}), target = ids({{1, 8, 9}});
  const auto hidden = [&](Transformer& model, uint64_t seed) {
    return model->hidden(source, target, {.training = true, .seed = seed}).hidden;
  };
  int64_t as_fewer = 0, as_all = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    const auto one = hidden(drawn, seed);
    as_fewer += torch::equal(one, hidden(fewer, seed)) ? 1 : 0;
    as_all += torch::equal(one, hidden(all, seed)) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(as_fewer), 16, 12);  // both stacks draw, each for itself
  EXPECT_NEAR(static_cast<double>(as_all), 16, 12);
}

TEST(Injection, AddsTheInputToWhatEveryRoundButTheFirstReads) {
  const torch::NoGradGuard no_grad;
  auto options = tiny("layers: 1, position: none");
  Stack one(stack_of(options, Side::encoder));
  options.layers = 3;
  options.share = {.layers = 1, .inject = true};
  Stack three(stack_of(options, Side::encoder));
  for (auto* stack : {&one, &three}) initialize(**stack, 1);
  const auto x = torch::randn({2, 5, options.d_model});
  const auto round = [&](Stack& stack, const torch::Tensor& input) {
    const auto places = torch::arange(5);
    return stack->forward(input, nullptr, stack->positions(places, places), {}).output;
  };
  const auto expected = round(one, round(one, round(one, x) + x) + x);
  EXPECT_LT(largest_difference(round(three, x), expected), 1e-5);
}

TEST(SharedFeedForward, IsOneOfAllLayers) {
  auto options = tiny();
  auto apart = make(options);
  std::get<DenseFeedForward>(options.layer.feed_forward).shared = true;
  auto shared = make(options);
  EXPECT_EQ(parameter_count(*apart) - parameter_count(*shared), 2 * (2 * 16 * 24 + 24 + 16));
  copy_parameters(shared, apart);
  for (const std::string side : {"encoder", "decoder"})
    copy_layer(apart, side + ".layers.0.", side + ".layers.1.", "feed_forward.");
  expect_same_outputs(shared, apart);
}

TEST(SharedLayers, DropOtherElementsEachTimeTheyRun) {
  auto options = tiny("family: decoder_only, share.layers: 1, norm.kind: none");
  auto model = make(options);
  torch::NoGradGuard no_grad;
  auto parameters = model->named_parameters();
  for (auto& item : parameters)
    if (item.key().find("layers.") != std::string::npos) item.value().zero_();
  const auto run = [&] {
    const auto target = ids({{1, 8, 9, 10}});
    return model->hidden(target, target, {.training = true, .dropout = 0.5, .seed = 3}).hidden;
  };
  const auto embedded = run();
  parameters["decoder.layers.0.attention.out.bias"].fill_(1);
  const auto added = run() - embedded;  // 1 twice, each dropped or doubled
  EXPECT_TRUE((added - 2).abs().lt(1e-4).any().item<bool>()) << "dropped once alone";
}

}  // namespace
}  // namespace ablate::models
