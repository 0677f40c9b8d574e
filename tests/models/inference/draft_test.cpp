#include <gtest/gtest.h>

#include "tests/models/inference/small_model.h"

namespace ablate::models::drafts {
namespace {

/// A model with three further heads, whose outputs differ.
Transformer guessing(uint64_t seed, Family family) {
  auto options = small(1, family)->options();
  options.layers = 2;
  options.output = LmHead{.bias = true, .ahead = 3};
  Transformer model(options, Vocabulary{kVocabulary, kVocabulary, 0});
  initialize(*model, seed);
  torch::NoGradGuard no_grad;
  model->parameters()[0].mul_(2.0);
  return model;
}

struct Written {
  std::vector<std::vector<Hypothesis>> outputs;
  int64_t tokens, passes;
};

Written write(std::span<const InferenceModel> models, SearchInput input,
              const SearchOptions& options) {
  SearchCount count;
  input.count = &count;
  auto outputs = search_all(models, input, options);
  return {std::move(outputs), count.tokens, count.passes};
}

/// Expects the outputs of as many drafts as there may be. Returns the passes that one of them
/// saved.
int64_t expect_same(std::span<const InferenceModel> models, const SearchInput& input,
                    SearchOptions options) {
  const auto plain = write(models, input, options);
  EXPECT_EQ(plain.tokens, plain.passes);
  int64_t saved = 0;
  for (const int64_t draft : {1, 3}) {
    options.draft = draft;
    const auto drafted = write(models, input, options);
    EXPECT_EQ(drafted.tokens, plain.tokens);
    for (size_t row = 0; row < plain.outputs.size(); ++row)
      for (size_t i = 0; i < plain.outputs[row].size(); ++i) {
        EXPECT_EQ(drafted.outputs[row][i].ids, plain.outputs[row][i].ids) << row;
        EXPECT_NEAR(drafted.outputs[row][i].score, plain.outputs[row][i].score, 1e-5);
      }
    saved += plain.passes - drafted.passes;
  }
  return saved;
}

TEST(Draft, ChangesNoOutput) {
  const std::vector<SearchOptions> all{{.max_length = 14},
                                       {.min_length = 5, .max_length = 14},
                                       {.max_length = 14, .sampling = RandomSampling{}},
                                       {.max_length = 14, .sampling = RandomSampling{.top_k = 2}}};
  int64_t saved = 0;
  for (const auto family : {Family::encoder_decoder, Family::decoder_only})
    for (const uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
      const InferenceModel model(guessing(seed, family));
      for (const auto& options : all)
        for (const int64_t n_best : {1, 2}) {
          saved += expect_same({&model, 1}, {.source = sources(), .tokens = kTokens}, options);
          if (std::holds_alternative<RandomSampling>(options.sampling))
            expect_same({&model, 1}, {.source = sources(), .tokens = kTokens, .n_best = n_best},
                        options);
          for (int64_t row = 0; row < 3; ++row)
            saved += expect_same(
                {&model, 1},
                {.source = sources().slice(0, row, row + 1).slice(1, 0, 2), .tokens = kTokens},
                options);
        }
    }
  EXPECT_GT(saved, 0) << "some guesses are right";
}

TEST(Draft, OfAnEnsembleIsItsFirstModels) {
  const std::vector<InferenceModel> models{InferenceModel(guessing(1, Family::encoder_decoder)),
                                           InferenceModel(guessing(2, Family::encoder_decoder))};
  expect_same(models, {.source = sources(), .tokens = kTokens}, {.max_length = 14});
}

TEST(Draft, ContinuesPrefixes) {
  const InferenceModel model(guessing(3, Family::encoder_decoder));
  const std::vector<std::vector<int64_t>> prefixes{{5, 5, 3}, {}, {4}};
  expect_same({&model, 1}, {.source = sources(), .tokens = kTokens, .prefixes = prefixes},
              {.max_length = 14});
}

TEST(Draft, RightGuessesNeedNoPasses) {
  auto network = guessing(1, Family::encoder_decoder);
  {
    const torch::NoGradGuard no_grad;
    for (auto& item : network->named_parameters())
      if (item.key() == "output_bias") item.value()[3] = 1000;  // the only token, at any place
  }
  const InferenceModel model(network);
  const auto source = sources().slice(0, 0, 1);
  // The first pass has no guesses yet: of 13 tokens it writes one, and each other pass four.
  const auto written =
      write({&model, 1}, {.source = source, .tokens = kTokens}, {.max_length = 13, .draft = 3});
  EXPECT_EQ(written.tokens, 13);
  EXPECT_EQ(written.passes, 4);
}

TEST(Draft, CountsTheTokensOfOutputsAndNotOfPrompts) {
  const InferenceModel model(guessing(1, Family::decoder_only));
  for (const int64_t draft : {0, 2}) {
    const auto written = write({&model, 1}, {.source = sources(), .tokens = kTokens},
                               {.max_length = 14, .draft = draft});
    int64_t tokens = 0;
    for (const auto& row : written.outputs)
      tokens += std::ssize(row.front().ids) + (row.front().ended ? 1 : 0);
    EXPECT_EQ(written.tokens, tokens);
    EXPECT_LE(written.passes, tokens);
  }
}

TEST(Draft, EndsAtTheLastLearnedPosition) {
  auto options = guessing(1, Family::decoder_only)->options();
  options.layer.position = Learned{.max_length = 10};
  Transformer network(options, Vocabulary{kVocabulary, kVocabulary, 0});
  initialize(*network, 1);
  const InferenceModel model(network);
  const auto source = sources().slice(0, 0, 1).slice(1, 0, 2);
  auto tokens = kTokens;
  tokens.eos = TokenId(kNoEnd);
  // A start token, two of the prompt and eight written ones, of which the last is not read.
  expect_same({&model, 1}, {.source = source, .tokens = tokens}, {.max_length = 8});
}

}  // namespace
}  // namespace ablate::models::drafts
