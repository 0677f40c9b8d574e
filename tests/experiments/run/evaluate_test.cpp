#include "experiments/run/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "experiments/run/run_data.h"
#include "models/position/position.h"
#include "tests/models/variants.h"
#include "tests/training/inference/small_translator.h"

namespace ablate::run {
namespace {

using training::small_translator;

records::TestScores scores_of(const training::Translator& translator,
                              const std::vector<data::Example>& examples) {
  config::Experiment experiment;
  experiment.decoding.max_length = 8;
  return evaluate(translator, {{.name = "test", .examples = examples}}, experiment).tests.at(0);
}

/// A model to which every token is as likely as any other.
training::Translator indifferent_translator(data::Tokenizers tokenizers) {
  const auto size = tokenizers.target.vocabulary_size();
  const models::Transformer model(models::tiny("d_model: 8, layers: 1, feed_forward.d_hidden: 8"),
                                  models::Vocabulary{size, size, tokenizer::kPad});
  const torch::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.zero_();
  return {models::InferenceModel(model), std::move(tokenizers),
          data::SequenceFormat(data::Copy{}, {}, 9)};
}

TEST(Evaluate, IsOfTheWholeTestSetWhateverTrainingCuts) {
  const std::vector<data::Example> test{{"a b c d a b c d a b c d", "d c b a d c b a d c b a"},
                                        {"a", "b"}};
  auto translator = small_translator(3, models::Family::encoder_decoder);
  const auto cut = scores_of(translator, test);  // training cuts at 9 tokens
  translator.format = data::SequenceFormat(data::Copy{}, {}, 100);
  const auto whole = scores_of(translator, test);
  EXPECT_EQ(cut.source_tokens, 6.5);
  EXPECT_EQ(cut.target_tokens, 6.5);
  EXPECT_EQ(cut.perplexity, whole.perplexity);
  EXPECT_EQ(cut.token_accuracy, whole.token_accuracy);
  EXPECT_EQ(cut.nats_per_character, whole.nats_per_character);
  EXPECT_EQ(cut.chrf, whole.chrf);
}

TEST(Evaluate, SpellsOutWhatUnknownTokensHide) {
  const auto words = data::train_tokenizers({.kind = tokenizer::Kind::word}, training::kSmallText);
  const auto translator = indifferent_translator(words);
  const auto vocabulary = static_cast<double>(words.target.vocabulary_size());
  const auto known = scores_of(translator, {{"a", "a b"}});
  EXPECT_NEAR(known.nats_per_character, 3 * std::log(vocabulary) / 4, 1e-5);
  EXPECT_EQ(known.unknown_targets, 0);
  EXPECT_EQ(known.unwritable_references, 0);
  // "a", an unknown token for " xyz" of four bytes, and the end.
  const auto unknown = scores_of(translator, {{"a", "a xyz"}});
  EXPECT_NEAR(unknown.nats_per_character, (3 * std::log(vocabulary) + 5 * std::log(257)) / 6, 1e-5);
  EXPECT_NEAR(unknown.unknown_targets, 1.0 / 2, 1e-12) << "the end is no token of the text";
  EXPECT_EQ(unknown.unwritable_references, 1);
}

/// A model that guesses pays ln V for each of three tokens. If the targets have more nats than
/// that, the model knows the difference.
TEST(Evaluate, CountsTheBitsThatAModelKnowsMoreThanGuessing) {
  const auto words = data::train_tokenizers({.kind = tokenizer::Kind::word}, training::kSmallText);
  const auto translator = indifferent_translator(words);
  const double guessed = 3 * std::log(static_cast<double>(words.target.vocabulary_size()));
  const auto bits = [&](double nats) {
    config::Experiment experiment;
    experiment.decoding.max_length = 8;
    const data::TestSet test{.name = "test", .examples = {{"a", "a b"}}, .nats = nats};
    return evaluate(translator, {test}, experiment).tests.at(0).bits_per_parameter;
  };
  const auto parameters = static_cast<double>(translator.model.parameters());
  EXPECT_NEAR(bits(guessed + 5 * std::log(2)), 5 / parameters, 1e-5 / parameters);
  EXPECT_EQ(bits(guessed - 1), 0);
  EXPECT_TRUE(std::isnan(scores_of(translator, {{"a", "a b"}}).bits_per_parameter));
}

/// Of five tokens with their ends the first is not predicted.
TEST(Evaluate, DivergesFromAGrammarByWhatTheLossIsAboveItsEntropy) {
  auto translator = small_translator(3, models::Family::decoder_only);
  translator.format = data::SequenceFormat(data::Lano{}, {.encoder = false}, 9);
  config::Experiment experiment;
  const data::TestSet test{.name = "test", .examples = {{"", "a b"}, {"", "c"}}, .nats = 2.5};
  const auto scores = evaluate(translator, {test}, experiment).tests.at(0);
  EXPECT_EQ(scores.tokens, 4);
  EXPECT_EQ(scores.source_tokens, 0);
  EXPECT_EQ(scores.target_tokens, 2) << "of the block, without the ends of its lines";
  EXPECT_NEAR(scores.divergence, std::log(scores.perplexity) - 0.5, 1e-9);
  EXPECT_TRUE(std::isnan(scores.bits_per_parameter));
}

TEST(Evaluate, CountsEveryTableOfTokensOnce) {
  const auto tables = [](const std::string& keys) {
    const models::Transformer model(models::tiny("d_model: 8, layers: 1", keys),
                                    models::Vocabulary{20, 20, tokenizer::kPad});
    return result_of(model, {}, {}).table_parameters;
  };
  EXPECT_EQ(tables("tying: three_way"), 20 * 8);
  EXPECT_EQ(tables("tying: target"), 2 * 20 * 8);
  EXPECT_EQ(tables("tying: none"), 3 * 20 * 8);
  EXPECT_EQ(tables("tying: none, family: decoder_only"), 2 * 20 * 8);
}

TEST(Evaluate, OfTheValidationSetSaysWhatTheTokenizerDoesNotKnow) {
  const auto words = data::train_tokenizers({.kind = tokenizer::Kind::word}, training::kSmallText);
  const auto share = [&](const std::string& target) {
    const data::SequenceFormat format(data::Copy{}, {}, 9);
    return unknown_share(format.encode(std::vector<data::Example>{{"a", target}}, words), false);
  };
  EXPECT_EQ(share("a b"), 0);
  EXPECT_NEAR(share("a b c xyz"), 0.25, 1e-12);
  EXPECT_TRUE(std::isnan(share(""))) << "no token, known or not";
}

TEST(Evaluate, RefusesATestSetWhoseOutputsMayOutgrowThePositions) {
  const auto translator = small_translator(3, models::Family::encoder_decoder);
  config::Experiment experiment;
  experiment.model.layer.position = models::Learned{.max_length = 12};
  const std::vector<data::TestSet> tests{{.name = "test", .examples = {{"a", "b"}, {"a b", "b"}}}};
  experiment.decoding.max_length = 12;
  EXPECT_EQ(evaluate(translator, tests, experiment).tests.size(), 1U);
  experiment.decoding.max_length = 13;
  EXPECT_THROW(evaluate(translator, tests, experiment), models::LengthError);
  const auto running = data::SequenceFormat(data::Language{}, {.encoder = false}, 9);
  check_lengths(experiment, running, translator.tokenizers, tests);  // writes nothing
}

TEST(Evaluate, WhatIsNotMeasuredIsNoNumber) {
  auto translator = small_translator(3, models::Family::decoder_only);
  translator.format = data::SequenceFormat(data::Language{}, {.encoder = false}, 9);
  const auto scores = scores_of(translator, {{"", "a b"}, {"", "c"}});
  EXPECT_GT(scores.perplexity, 1);
  for (const double value : {scores.exact_match, scores.bleu, scores.chrf, scores.rouge_1})
    EXPECT_TRUE(std::isnan(value));
}

TEST(Evaluate, ComparesBothSidesUnderTheTokenizersNormalisation) {
  const auto translator = small_translator(3, models::Family::encoder_decoder);
  std::vector<data::Example> test{{"a b", ""}, {"c d a", ""}, {"d d", ""}};
  std::vector<std::string> sources;
  for (const auto& example : test) sources.push_back(example.source);
  models::SearchOptions decoding;
  decoding.max_length = 8;
  const auto found = training::translate(translator, sources, decoding);
  for (size_t i = 0; i < test.size(); ++i) {
    ASSERT_FALSE(found[i].text.empty());
    test[i].target = found[i].text + (i == 0 ? "" : " ");
  }
  test[2].target.insert(0, "\u200b");  // a word of another spelling
  const auto scores = scores_of(translator, test);
  EXPECT_EQ(scores.exact_match, 1);
  EXPECT_NEAR(scores.exact_match_raw, 1.0 / 3, 1e-12);
  EXPECT_EQ(scores.word_error_rate, 0);
  EXPECT_GT(scores.word_error_rate_raw, 0);
  EXPECT_GE(scores.altered_references, 2);
}

TEST(Evaluate, CountsTheOutputsThatWereCut) {
  const auto words = data::train_tokenizers({.kind = tokenizer::Kind::word}, training::kSmallText);
  const auto scores = scores_of(indifferent_translator(words), {{"a", "a b"}, {"b", "c"}});
  EXPECT_TRUE(scores.cut_outputs == 0 || scores.cut_outputs == 2) << scores.cut_outputs;
  const auto translator = small_translator(3, models::Family::encoder_decoder);
  const std::vector<data::Example> test{{"a b", "a"}, {"c d a", "a"}, {"d d", "a"}};
  int64_t cut = 0;
  for (const auto& example : test) {
    models::SearchOptions decoding;
    decoding.max_length = 8;
    cut += training::translate(translator, std::vector{example.source}, decoding)[0].ended ? 0 : 1;
  }
  EXPECT_EQ(scores_of(translator, test).cut_outputs, cut);
}

}  // namespace
}  // namespace ablate::run
