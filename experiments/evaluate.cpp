#include "experiments/evaluate.h"

#include "training/likelihood.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"

namespace ablate::experiments {
namespace {

std::vector<std::string> outputs_of(training::Translator& translator, const data::TestSet& test,
                                    const training::DecodingOptions& decoding) {
  std::vector<std::string> lines, outputs;
  for (const auto& example : test.examples) lines.push_back(example.source);
  for (auto& translation : training::translate(translator, lines, decoding))
    outputs.push_back(std::move(translation.text));
  return outputs;
}

void add_likelihood(TestScores& scores, training::Translator& translator, const data::TestSet& test,
                    int64_t tokens_per_batch) {
  const auto encoded = data::encode(test.examples, translator.tokenizers, translator.max_length);
  const auto likelihood =
      training::likelihood(translator.model, encoded.examples, tokens_per_batch);
  scores.token_accuracy = likelihood.token_accuracy;
  scores.perplexity = likelihood.perplexity();
  for (const auto& example : encoded.examples) {
    scores.source_pieces += static_cast<double>(example.source.size() - 1);
    scores.target_pieces += static_cast<double>(example.target.size() - 1);
  }
  scores.source_pieces /= static_cast<double>(scores.examples);
  scores.target_pieces /= static_cast<double>(scores.examples);
}

}  // namespace

Evaluation evaluate(training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const training::DecodingOptions& decoding, int64_t tokens_per_batch) {
  Evaluation evaluation;
  for (const auto& test : tests) {
    TestScores scores{.name = test.name,
                      .beyond = test.beyond,
                      .examples = static_cast<int64_t>(test.examples.size())};
    auto outputs = outputs_of(translator, test, decoding);
    std::vector<std::string> references;
    int64_t exact = 0;
    for (size_t i = 0; i < test.examples.size(); ++i) {
      references.push_back(test.examples[i].target);
      if (outputs[i] == references[i]) ++exact;
    }
    const auto bleu = training::bleu(outputs, references);
    const auto chrf = training::chrf(outputs, references);
    scores.bleu = bleu.score;
    scores.chrf = chrf.score;
    scores.exact_match = static_cast<double>(exact) / static_cast<double>(scores.examples);
    add_likelihood(scores, translator, test, tokens_per_batch);
    evaluation.bleu_signature = bleu.signature;
    evaluation.chrf_signature = chrf.signature;
    evaluation.tests.push_back(std::move(scores));
    evaluation.outputs.push_back(std::move(outputs));
  }
  return evaluation;
}

}  // namespace ablate::experiments
