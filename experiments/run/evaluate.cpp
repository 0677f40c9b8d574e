#include "experiments/run/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "experiments/run/model_cost.h"
#include "training/inference/translator.h"
#include "training/likelihood.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"
#include "training/metrics/rouge.h"
#include "training/metrics/word_error_rate.h"

namespace ablate::run {
namespace {

std::vector<std::string> outputs_of(const training::Translator& translator,
                                    const data::TestSet& test,
                                    const models::SearchOptions& decoding) {
  std::vector<std::string> lines, outputs;
  for (const auto& example : test.examples) lines.push_back(example.source);
  for (auto& translation : training::translate(translator, lines, decoding))
    outputs.push_back(std::move(translation.text));
  return outputs;
}

/// Unicode characters of all targets, the end of each counted as one.
int64_t characters_of(const data::TestSet& test) {
  int64_t count = 0;
  for (const auto& example : test.examples)
    count += 1 + std::ranges::count_if(example.target, [](char byte) {
               return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
             });
  return count;
}

void add_likelihood(records::TestScores& scores, const training::Translator& translator,
                    const data::EncodedSet& encoded, const training::LikelihoodOptions& options) {
  const auto likelihood = training::likelihood(translator.model, encoded.examples, options);
  scores.token_accuracy = likelihood.token_accuracy;
  scores.perplexity = likelihood.perplexity();
  scores.position_accuracy = likelihood.position_accuracy;
  scores.nats_per_character = likelihood.nll * static_cast<double>(likelihood.tokens);
  for (const auto& example : encoded.examples) {
    const auto prompt = static_cast<size_t>(example.prompt_length);
    scores.source_tokens +=
        static_cast<double>((example.source.empty() ? prompt : example.source.size()) - 1);
    scores.target_tokens += static_cast<double>(example.target.size() - prompt - 1);
  }
  scores.source_tokens /= static_cast<double>(encoded.examples.size());
  scores.target_tokens /= static_cast<double>(encoded.examples.size());
}

/// Compares the outputs with the references of the set.
void add_text_scores(Evaluation& evaluation, records::TestScores& scores, const data::TestSet& test,
                     std::vector<std::string> outputs) {
  std::vector<std::string> references;
  int64_t exact = 0;
  for (size_t i = 0; i < test.examples.size(); ++i) {
    references.push_back(test.examples[i].target);
    if (outputs[i] == references[i]) ++exact;
  }
  scores.exact_match = static_cast<double>(exact) / static_cast<double>(scores.examples);
  if (scores.compared == data::Compared::text) {
    const auto rouge = training::rouge(outputs, references);
    scores.rouge_1 = rouge.one;
    scores.rouge_2 = rouge.two;
    scores.rouge_l = rouge.longest;
    scores.word_error_rate = training::word_error_rate(outputs, references);
    const auto bleu = training::bleu(outputs, references);
    const auto chrf = training::chrf(outputs, references);
    scores.bleu = bleu.defined ? bleu.score : std::numeric_limits<double>::quiet_NaN();
    scores.chrf = chrf.score;
    if (bleu.reference_length > 0)
      scores.length_ratio =
          static_cast<double>(bleu.hypothesis_length) / static_cast<double>(bleu.reference_length);
    evaluation.bleu_signature = bleu.signature;
    evaluation.chrf_signature = chrf.signature;
  }
  evaluation.outputs.push_back(std::move(outputs));
}

/// Tokens of a source or target of the first test set, its end token included.
int64_t typical_length(const Evaluation& evaluation) {
  const auto& test = evaluation.tests.front();
  return 1 + std::llround(std::max(test.source_tokens, test.target_tokens));
}

}  // namespace

Evaluation evaluate(const training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const config::Experiment& experiment) {
  Evaluation evaluation;
  const auto& format = translator.format;
  const auto compared = format.compared();
  const training::LikelihoodOptions likelihood{experiment.training.tokens_per_batch,
                                               format.masking(translator.tokenizers)};
  for (const auto& test : tests) {
    records::TestScores scores{.name = test.name,
                               .beyond = test.extrapolation,
                               .examples = static_cast<int64_t>(test.examples.size()),
                               .in_training = test.in_training,
                               .compared = compared};
    if (compared != data::Compared::nothing) {
      const auto start = std::chrono::steady_clock::now();
      auto outputs = outputs_of(translator, test, experiment.decoding);
      scores.decode_seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      add_text_scores(evaluation, scores, test, std::move(outputs));
    }
    add_likelihood(scores, translator, format.encode(test.examples, translator.tokenizers),
                   likelihood);
    scores.nats_per_character /= static_cast<double>(characters_of(test));
    // Where only some tokens or a class are asked for, no sum over all characters exists.
    if (likelihood.masking || compared == data::Compared::label)
      scores.nats_per_character = std::numeric_limits<double>::quiet_NaN();
    evaluation.tests.push_back(std::move(scores));
  }
  return evaluation;
}

training::Likelihood validation_of(LoadedRun& run, const data::Corpus& corpus) {
  return training::likelihood(
      run.model, run.format.encode(corpus.validation, run.tokenizers).examples,
      {run.experiment.training.tokens_per_batch, run.format.masking(run.tokenizers)});
}

records::RunResult result_of(const config::Experiment& experiment, const models::Transformer& model,
                             const training::Likelihood& validation, Evaluation&& evaluation) {
  return {.parameters = models::parameter_count(*model),
          .active_parameters = active_parameter_count(experiment.model, *model),
          .flops_per_token = flops_per_token(experiment.model, *model, typical_length(evaluation)),
          .validation_perplexity = validation.perplexity(),
          .validation_token_accuracy = validation.token_accuracy,
          .bleu_signature = evaluation.bleu_signature,
          .chrf_signature = evaluation.chrf_signature,
          .tests = std::move(evaluation.tests)};
}

}  // namespace ablate::run
