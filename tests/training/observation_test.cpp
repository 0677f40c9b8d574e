#include "training/observation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/training/mixture_model.h"

namespace ablate::training {
namespace {

models::TransformerOptions observed_layers(const std::string& more = "") {
  return models::tiny("d_model: 8, feed_forward.d_hidden: 16, " + more);
}

models::Transformer model_of(const models::TransformerOptions& options) {
  return models::make(options, 12);
}

using Figures = std::map<std::string, Observation>;  // by what and place

Figures observed(const models::TransformerOptions& options, const data::Batch& batch) {
  auto model = model_of(options);
  Figures figures;
  for (auto& one : observe_pass(model, batch, {.every = 1}))
    EXPECT_TRUE(figures.emplace(one.what + " " + one.place, one).second) << one.what << one.place;
  return figures;
}

std::set<std::string> places(const Figures& figures, const std::string& what) {
  std::set<std::string> found;
  for (const auto& [name, one] : figures)
    if (one.what == what) found.insert(one.place);
  return found;
}

using Places = std::set<std::string>;

TEST(Observation, PlacesAreWhereParametersAre) {
  auto options = observed_layers();
  options.decoder_layers = 1;
  const auto figures = observed(options, three_pairs());
  EXPECT_EQ(places(figures, "attention_entropy"),
            (Places{"encoder.layers.0.attention", "encoder.layers.1.attention",
                    "decoder.layers.0.attention", "decoder.layers.0.cross_attention"}));
  EXPECT_EQ(places(figures, "attention_sink"), places(figures, "attention_entropy"));
  EXPECT_EQ(places(figures, "rank_residual"),
            (Places{"encoder.layers.0", "encoder.layers.1", "decoder.layers.0"}));
  EXPECT_EQ(places(figures, "active_neurons"),
            (Places{"encoder.layers.0.feed_forward", "encoder.layers.1.feed_forward",
                    "decoder.layers.0.feed_forward"}));
  const auto model = model_of(options);
  for (const auto& [name, one] : figures) {
    EXPECT_EQ(one.heads.size(), one.what.starts_with("attention") ? 2U : 0U) << name;
    bool known = false;
    for (const auto& item : model->named_parameters())
      known = known || item.key().starts_with(one.place + ".");
    EXPECT_TRUE(known) << one.place;
  }
}

TEST(Observation, FamiliesOfOneStackAndMixersWithoutScoresHaveTheirOwnPlaces) {
  const auto attentions = [](const models::TransformerOptions& options) {
    return places(observed(options, three_pairs()), "attention_entropy");
  };
  EXPECT_EQ(attentions(observed_layers("family: decoder_only")),
            (Places{"decoder.layers.0.attention", "decoder.layers.1.attention"}));
  EXPECT_EQ(attentions(observed_layers("family: encoder_only")),
            (Places{"encoder.layers.0.attention", "encoder.layers.1.attention"}));
  auto recurrent = observed_layers();
  for (auto& layer : own_layers(recurrent, models::Side::decoder)) layer.attention = models::Lstm{};
  EXPECT_EQ(attentions(recurrent),
            (Places{"encoder.layers.0.attention", "encoder.layers.1.attention",
                    "decoder.layers.0.cross_attention", "decoder.layers.1.cross_attention"}));
}

TEST(Observation, ALayerThatRunsTwiceIsTwoLayersAndSharedExpertsHaveTheirOwnPlace) {
  auto shared = observed_layers("family: decoder_only");
  shared.share.layers = 1;
  EXPECT_EQ(places(observed(shared, three_pairs()), "rank_residual"),
            (Places{"decoder.layers.0", "decoder.layers.1"}));
  auto routed = observed_layers("family: decoder_only");
  auto mixture = mixture_of(models::SoftmaxRouter{}, 1);
  mixture.shared_experts = 1;
  own_layers(routed, models::Side::decoder)[1].feed_forward = mixture;
  EXPECT_EQ(places(observed(routed, three_pairs()), "active_neurons"),
            (Places{"decoder.layers.0.feed_forward", "decoder.layers.1.feed_forward",
                    "decoder.layers.1.feed_forward.shared"}));
}

/// Figures where queries and keys are zeros, so that attention is even over what a query sees.
Figures with_even_attention(const models::TransformerOptions& options, const data::Batch& batch,
                            std::optional<int64_t> divider = {}) {
  auto model = models::make(options, models::Vocabulary{12, 12, tokenizer::kPad, divider});
  const torch::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    const auto& name = item.key();
    if (name.find("attention.qkv.") != name.npos) item.value().narrow(0, 0, 16).zero_();
    if (name.find("attention.query.") != name.npos) item.value().zero_();
  }
  Figures figures;
  for (auto& one : observe_pass(model, batch, {.every = 1}))
    figures.emplace(one.what + " " + one.place, one);
  return figures;
}

TEST(Observation, EvenAttentionIsMeasuredOverUnpaddedQueriesAndKeysAlone) {
  // Sources of 4, 2 and 3 tokens, targets of 4, 2 and 5.
  const auto figures = with_even_attention(observed_layers(), three_pairs());
  const double two = std::log(2.0), three = std::log(3.0), four = std::log(4.0);
  const auto& encoder = figures.at("attention_entropy encoder.layers.0.attention");
  EXPECT_NEAR(encoder.value, (4 * four + 2 * two + 3 * three) / 9, 1e-5);
  EXPECT_NEAR(encoder.heads[1], encoder.value, 1e-5);
  EXPECT_NEAR(figures.at("attention_entropy decoder.layers.1.cross_attention").value,
              (4 * four + 2 * two + 5 * three) / 11, 1e-5);
  EXPECT_NEAR(figures.at("attention_entropy decoder.layers.0.attention").value,
              (3 * two + 2 * three + 2 * four + std::log(5.0)) / 11, 1e-5);
  EXPECT_NEAR(figures.at("attention_sink encoder.layers.0.attention").value, 3. / 9, 1e-5);
  // Of the first query nothing can be said: 3 + 1 + 4 others see 2, 3, 4 or 5 keys.
  EXPECT_NEAR(figures.at("attention_sink decoder.layers.0.attention").value,
              (3 / 2. + 2 / 3. + 2 / 4. + 1 / 5.) / 8, 1e-5);
}

TEST(Observation, BehindAWindowTheFirstKeyIsNotMissed) {
  auto options = observed_layers("family: decoder_only");
  options.layer.attention = models::MultiHead{.heads = 2, .window = 2};
  const auto figures = with_even_attention(options, three_pairs());
  // Of each target the second query alone sees the first key and another.
  EXPECT_NEAR(figures.at("attention_sink decoder.layers.0.attention").value, 0.5, 1e-5);
}

TEST(Observation, ALaterDocumentDoesNotSeeTheFirstKey) {
  const auto figures =
      with_even_attention(observed_layers("family: decoder_only"), three_pairs(), 4);
  // The third target reads 1 9 | 4 | 4 10: of it the second query alone sees the first key, too.
  EXPECT_NEAR(figures.at("attention_sink decoder.layers.0.attention").value,
              (3 / 2. + 1 / 3. + 1 / 4.) / 5, 1e-5);
}

TEST(Observation, MorePaddingChangesNothing) {
  auto batch = three_pairs();
  const auto widen = [&](std::vector<int64_t>& ids, int64_t length) {
    std::vector<int64_t> wide;
    for (int64_t row = 0; row < batch.rows; ++row) {
      wide.insert(wide.end(), ids.begin() + row * length, ids.begin() + (row + 1) * length);
      wide.insert(wide.end(), 3, tokenizer::kPad);
    }
    ids = wide;
  };
  const auto narrow = observed(observed_layers(), batch);
  widen(batch.source, batch.source_length);
  widen(batch.target_in, batch.target_length);
  widen(batch.target_out, batch.target_length);
  batch.source_length += 3;
  batch.target_length += 3;
  const auto wide = observed(observed_layers(), batch);
  ASSERT_EQ(wide.size(), narrow.size());
  for (const auto& [name, one] : narrow) EXPECT_NEAR(wide.at(name).value, one.value, 1e-5) << name;
}

TEST(Observation, PositionsThatReadTheSameStayTheSame) {
  auto options = observed_layers("family: encoder_only");
  options.layer.position = models::NoPosition{};
  const std::vector<data::EncodedExample> examples{{{5, 5, 5}, {5, 5, 5}}};
  const auto figures = observed(options, data::collate(examples, std::vector<int64_t>{0}));
  EXPECT_NEAR(figures.at("rank_residual encoder.layers.1").value, 0, 1e-6);
  EXPECT_GT(observed(options, three_pairs()).at("rank_residual encoder.layers.1").value, 0.1);
}

TEST(Observation, NeuronsAreThoseBehindTheActivation) {
  auto model = model_of(observed_layers());
  const torch::NoGradGuard no_grad;
  auto parameters = model->named_parameters();
  parameters["encoder.layers.0.feed_forward.up.bias"].fill_(-100);
  parameters["encoder.layers.1.feed_forward.up.bias"].fill_(100);
  for (const auto& one : observe_pass(model, three_pairs(),
                                      {.every = 1, .quantities = {Observable::active_neurons}})) {
    EXPECT_EQ(one.what, "active_neurons");
    if (one.place.starts_with("decoder")) continue;
    EXPECT_EQ(one.value, one.place == "encoder.layers.0.feed_forward" ? 0 : 1) << one.place;
  }
}

TEST(Observation, OfRoutedExpertsThoseThatAPositionUsesCount) {
  auto options = observed_layers("family: decoder_only");
  options.layers = 1;
  auto mixture = mixture_of(models::HashRouter{}, 1);
  mixture.experts = 2;
  options.layer.feed_forward = mixture;
  auto model = model_of(options);
  const torch::NoGradGuard no_grad;
  model->named_parameters()["decoder.layers.0.feed_forward.up_bias"][0].fill_(-100);
  model->named_parameters()["decoder.layers.0.feed_forward.up_bias"][1].fill_(100);
  // Four tokens and two marks of a beginning are read; the hash sends the same to the same expert,
  // and padding to none.
  std::set<double> shares;
  for (int32_t token = 4; token < 12; ++token) {
    const std::vector<data::EncodedExample> examples{{{2}, {token, token, token, 2}},
                                                     {{2}, {token, 2}}};
    const auto figures = observe_pass(model, data::collate(examples, std::vector<int64_t>{0, 1}),
                                      {.every = 1, .quantities = {Observable::active_neurons}});
    ASSERT_EQ(figures.size(), 1U);
    shares.insert(figures.front().value);
  }
  EXPECT_EQ(shares.size(), 2U) << "some tokens share the mark's expert, some do not";
  for (const double share : shares)
    EXPECT_TRUE(share == 0 || share == 1. / 3 || share == 2. / 3 || share == 1) << share;
}

TEST(Observation, ABatchHoldsTheFirstExamplesThatFit) {
  std::vector<data::EncodedExample> examples;
  for (int32_t i = 0; i < 5; ++i) examples.push_back({{4 + i, 2}, {4 + i, 4 + i, 2}});
  examples[3].target.insert(examples[3].target.begin(), 5, 9);  // 8 tokens
  EXPECT_EQ(observed_batch({examples, 12}).rows, 3);
  EXPECT_EQ(observed_batch({examples, 32}).rows, 4);
  EXPECT_EQ(observed_batch({examples, 1}).rows, 1) << "one is always there";
  EXPECT_EQ(observed_batch({examples, 12}).source, (std::vector<int64_t>{4, 2, 5, 2, 6, 2}));
}

TEST(Observation, MaskingHidesTheSameTokensEveryTime) {
  std::vector<data::EncodedExample> examples(20, {{5, 6, 7, 8}, {5, 6, 7, 8}});
  const auto batch = observed_batch({examples, 4096, data::Masking{.vocabulary = 12}});
  EXPECT_EQ(batch.source, observed_batch({examples, 4096, data::Masking{.vocabulary = 12}}).source);
  EXPECT_NE(batch.source, observed_batch({examples, 4096}).source);
}

}  // namespace
}  // namespace ablate::training
