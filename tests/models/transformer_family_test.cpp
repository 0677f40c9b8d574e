#include <gtest/gtest.h>

#include <array>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

/// Every variant that the family can have.
std::vector<Variant> variants_of(Family family) {
  if (family == Family::encoder_decoder) return variants();
  std::vector<Variant> chosen;
  for (auto [name, options] : variants()) {
    if (name == "sides of their own") continue;
    options.family = family;
    options.layer.cross_attention = Same{};
    chosen.emplace_back(name, options);
  }
  return chosen;
}

constexpr std::array kFamilies{Family::encoder_decoder, Family::decoder_only, Family::encoder_only};

// A model of one stack reads its own side alone.
TEST(Family, LaterTargetsNeverChangeEarlierOutputs) {
  for (const auto family : {Family::encoder_decoder, Family::decoder_only})
    for (const auto& [name, options] : variants_of(family)) {
      auto model = make(options);
      const auto source = ids({{5, 6, 7}});
      const auto first = model->forward(source, ids({{1, 8, 9, 10}}));
      const auto second = model->forward(source, ids({{1, 8, 11, 12}}));
      EXPECT_LE(largest_difference(first.slice(1, 0, 2), second.slice(1, 0, 2)), rounding(name))
          << name;
      // Beside a memory all positions come out nearly alike without skips (Dong et al. 2021).
      const bool alike = family == Family::encoder_decoder && !options.layer.residual.skip;
      EXPECT_GT(largest_difference(first.slice(1, 2), second.slice(1, 2)), alike ? 0 : 1e-4)
          << name;
    }
}

TEST(Family, PaddingNeverChangesOtherPositions) {
  for (const bool gradients : {false, true}) {
    const torch::AutoGradMode mode(gradients);
    for (const auto family : kFamilies)
      for (const auto& [name, options] : variants_of(family)) {
        auto model = make(options);
        const auto alone = model->forward(ids({{5, 6, 2}}), ids({{1, 8, 9}}));
        const auto padded = model->forward(ids({{5, 6, 2, 0, 0}}), ids({{1, 8, 9, 0, 0}}));
        EXPECT_EQ(alone.sizes(), (std::vector<int64_t>{1, 3, 20})) << name;
        EXPECT_LT(rounding_difference(alone, padded.slice(1, 0, 3)), 1e-5) << name;
      }
  }
}

TEST(Family, EveryParameterGetsAGradient) {
  for (const auto family : kFamilies)
    for (const auto& [name, options] : variants_of(family)) {
      // CoPE starts from zero vectors, through which its gates get no gradient yet.
      auto model = moved(options, 0.01);
      const auto token_ids = torch::randint(3, 20, {2, 6});
      const auto logits = model->forward(token_ids, token_ids);
      logits.log_softmax(-1).gather(-1, token_ids.roll(1, 1).unsqueeze(-1)).sum().backward();
      for (const auto& item : model->named_parameters()) {
        const auto gradient = item.value().grad();
        ASSERT_TRUE(gradient.defined()) << name << " " << item.key();
        EXPECT_GT(gradient.abs().max().item<double>(), 0.0) << name << " " << item.key();
      }
    }
}

const torch::Tensor kNothing = torch::zeros({1, 0}, torch::kLong);

TEST(DecoderOnly, StepsAfterABeginningEqualTheFullForward) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants_of(Family::decoder_only)) {
    auto model = make(options);
    const auto target = ids({{1, 8, 9, 10, 11, 12}, {1, 4, 5, 6, 7, 8}});
    const auto full = model->forward(kNothing, target);
    for (const int64_t begun : {0, 1, 3}) {
      auto cache = model->prefill(target.slice(1, 0, begun));
      for (int64_t t = begun; t < target.size(1); ++t)
        EXPECT_LT(largest_difference(model->step(target.select(1, t), cache), full.select(1, t)),
                  1e-5)
            << name << " begun with " << begun << ", step " << t;
    }
  }
}

TEST(EncoderDecoder, InterpolatedPositionsDoNotDependOnTheLongestRow) {
  const torch::NoGradGuard no_grad;
  auto model =
      moved(tiny("encoder: {position: {kind: learned, max_length: 3, beyond: interpolate}}"));
  const auto target = ids({{1, 8, 9}});
  const auto alone = model->forward(ids({{5, 6, 7, 2}}), target);
  const auto both =
      model->forward(ids({{5, 6, 7, 2, 0, 0, 0}, {5, 6, 7, 8, 9, 10, 2}}), target.expand({2, 3}));
  EXPECT_LT(rounding_difference(alone, both.narrow(0, 0, 1)), 1e-4);
}

TEST(EncoderOnly, SeesBothSidesWhereSomethingMixesThem) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants_of(Family::encoder_only)) {
    auto model = make(options);
    const auto first = model->forward(ids({{5, 6, 7, 2}}), kNothing);
    const auto other_end = model->forward(ids({{5, 6, 7, 3}}), kNothing);
    const auto other_begin = model->forward(ids({{4, 6, 7, 2}}), kNothing);
    const bool mixes = name != "no attention";
    const double from_end = largest_difference(first.select(1, 1), other_end.select(1, 1));
    const double from_begin = largest_difference(first.select(1, 2), other_begin.select(1, 2));
    if (mixes) {
      EXPECT_GT(std::min(from_end, from_begin), 1e-6) << name;
    } else {
      EXPECT_EQ(std::max(from_end, from_begin), 0.0) << name;
    }
  }
}

TEST(Family, OneStackHasOneStacksParameters) {
  auto both = tiny(), decoder = tiny(), encoder = tiny();
  decoder.family = Family::decoder_only;
  encoder.family = Family::encoder_only;
  const int64_t embedding = 20 * 16, layer_norm = 2 * 16;
  const int64_t attention = 4 * (16 * 16 + 16), feed_forward = 2 * 16 * 24 + 24 + 16;
  const int64_t layer = attention + feed_forward + 2 * layer_norm;
  EXPECT_EQ(parameter_count(*make(encoder)), embedding + 2 * layer);
  EXPECT_EQ(parameter_count(*make(decoder)), embedding + 2 * layer);
  EXPECT_EQ(parameter_count(*make(both)), embedding + 4 * layer + 2 * (attention + layer_norm));
}

}  // namespace
}  // namespace ablate::models
