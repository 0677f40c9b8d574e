#include "models/transformer.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"

namespace ablate::models {
namespace {

TEST(Transformer, ParameterCountsAreThoseOfThePapersTable3) {
  const auto count = [](auto change) {
    TransformerOptions options;
    change(options);
    return parameter_count(*make(options, 41'000));
  };
  const auto hidden = [](int64_t width) { return DenseFeedForward{.d_hidden = width}; };
  EXPECT_EQ(count([](auto&) {}), 65'130'496);
  EXPECT_EQ(count([](auto& o) { o.layer.attention = MultiHead{.d_k = 16}; }), 58'038'784);
  EXPECT_EQ(count([](auto& o) { o.layer.attention = MultiHead{.d_k = 32}; }), 60'402'688);
  EXPECT_EQ(count([](auto& o) { o.layers = 2; }), 35'704'832);
  EXPECT_EQ(count([](auto& o) { o.layers = 4; }), 50'417'664);
  EXPECT_EQ(count([](auto& o) { o.layers = 8; }), 79'843'328);
  EXPECT_EQ(count([](auto& o) { o.d_model = 256; }), 27'858'944);
  EXPECT_EQ(count([](auto& o) { o.d_model = 1024; }), 167'985'152);
  EXPECT_EQ(count([&](auto& o) { o.layer.feed_forward = hidden(1024); }), 52'535'296);
  EXPECT_EQ(count([&](auto& o) { o.layer.feed_forward = hidden(4096); }), 90'320'896);
}

TEST(Transformer, ParameterNamesAreAFileFormat) {
  auto options = tiny("layers: 1");
  std::vector<std::string> names;
  for (const auto& item : make(options)->named_parameters()) names.push_back(item.key());
  std::vector<std::string> expected{"embedding"};
  for (const std::string part :
       {"encoder.layers.0.attention.qkv", "encoder.layers.0.attention.out",
        "encoder.layers.0.attention_norm", "encoder.layers.0.feed_forward.up",
        "encoder.layers.0.feed_forward.down", "encoder.layers.0.feed_forward_norm",
        "decoder.layers.0.attention.qkv", "decoder.layers.0.attention.out",
        "decoder.layers.0.attention_norm", "decoder.layers.0.cross_attention.query",
        "decoder.layers.0.cross_attention.key_value", "decoder.layers.0.cross_attention.out",
        "decoder.layers.0.cross_attention_norm", "decoder.layers.0.feed_forward.up",
        "decoder.layers.0.feed_forward.down", "decoder.layers.0.feed_forward_norm"})
    for (const auto* end : {".weight", ".bias"}) expected.push_back(part + end);
  EXPECT_EQ(names, expected);
}

TEST(Transformer, GradientWithRespectToLaterTargetsIsExactlyZero) {
  for (const auto& [name, options] : variants()) {
    auto untied = options;
    untied.tying = Tying::none;
    auto model = make(untied);
    model->forward(ids({{5, 6, 7}}), ids({{1, 8, 9, 10}})).select(1, 1).sum().backward();
    const auto gradient = model->named_parameters()["target_embedding"].grad();
    EXPECT_GT(gradient[8].abs().max().item<double>(), 0.0) << name;
    EXPECT_EQ(gradient[9].abs().max().item<double>(), 0.0) << name;
    EXPECT_EQ(gradient[10].abs().max().item<double>(), 0.0) << name;
  }
}

TEST(Transformer, CachedStepsEqualTheFullForward) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 2}, {9, 2, 0, 0}});
    const auto target = ids({{1, 8, 9, 10, 11}, {1, 4, 5, 6, 7}});
    const auto full = model->forward(source, target);
    auto cache = model->prefill(source);
    for (int64_t t = 0; t < target.size(1); ++t)
      EXPECT_LT(rounding_difference(full.select(1, t), model->step(target.select(1, t), cache)),
                1e-5)
          << name << " step " << t;
  }
}

TEST(Transformer, AReorderedCacheContinuesTheReorderedRows) {
  torch::NoGradGuard no_grad;
  const auto source = ids({{5, 6, 7}, {9, 2, 0}});
  const auto target = ids({{1, 8, 9}, {1, 4, 5}});
  const auto order = torch::tensor({1, 0, 1});
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto full = model->forward(source, target).select(1, 2);
    auto cache = model->prefill(source);
    model->step(target.select(1, 0), cache);
    model->step(target.select(1, 1), cache);
    cache.reorder(order);
    const auto next = model->step(target.select(1, 2).index_select(0, order), cache);
    EXPECT_LT(rounding_difference(full.index_select(0, order), next), 1e-5) << name;
  }
}

TEST(Transformer, KernelsAndPlainOperationsComputeTheSame) {
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 2, 0}, {9, 2, 0, 0, 0}});
    const auto target = ids({{1, 8, 9, 0}, {1, 4, 5, 6}});
    const auto kernels = model->forward(source, target);
    torch::NoGradGuard no_grad;
    const auto plain = model->forward(source, target);
    const double largest = std::max(1.0, plain.abs().max().item<double>());
    EXPECT_LT(largest_difference(kernels, plain), 1e-5 * largest) << name;
  }
}

TEST(Transformer, TooLongASequenceForLearnedPositionsNamesBothLengths) {
  auto options = tiny("position: {kind: learned, max_length: 3}");
  auto model = make(options);
  EXPECT_EQ(refusal_of<LengthError>([&] {
              model->encode(ids({{5, 6, 7, 2}}));
            }),
            "a sequence of 4 tokens is longer than the 3 learned positions; raise "
            "model.position.max_length or shorten the input");
}

TEST(Transformer, Bfloat16StaysNearFloat) {
  for (const bool gradients : {false, true}) {
    const torch::AutoGradMode mode(gradients);
    for (const auto& [name, options] : variants()) {
      auto model = make(options);
      const auto source = ids({{5, 6, 7, 2}});
      const auto target = ids({{1, 8, 9}});
      const auto exact = model->forward(source, target);
      const auto hidden = model->hidden(source, target, {.compute_dtype = torch::kBFloat16}).hidden;
      const auto rounded =
          ops::capped(torch::linear(hidden, model->output_weight().to(torch::kBFloat16)),
                      model->output().softcap);
      EXPECT_EQ(rounded.scalar_type(), torch::kBFloat16) << name;
      EXPECT_LT(rounding_difference(exact, rounded.to(torch::kFloat)), 0.03) << name;
      EXPECT_GT(largest_difference(exact, rounded.to(torch::kFloat)), 0.0) << name;
      EXPECT_EQ(model->parameters()[0].scalar_type(), torch::kFloat) << name;
    }
  }
}

TEST(Transformer, WithoutBiasHasNone) {
  auto options = tiny("bias: false");
  for (const auto& item : make(options)->named_parameters())
    EXPECT_FALSE(item.key().ends_with("bias")) << item.key();
}

TEST(Transformer, EachLinkOfTyingIsOneMatrix) {
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

TEST(Transformer, WithoutEmbeddingScaleEmbeddingsAreSmallerByTheRootOfTheWidth) {
  torch::NoGradGuard no_grad;
  auto scaled = tiny(
      "layers: 1, position: none, attention: none, cross_attention: {kind: multi_head, heads: 2}, "
      "feed_forward: none");
  auto plain = scaled;
  plain.embedding_scale = false;
  EXPECT_LT(largest_difference(make(scaled)->encode(ids({{5, 6}})).output,
                               4 * make(plain)->encode(ids({{5, 6}})).output),
            1e-6);
}

}  // namespace
}  // namespace ablate::models
