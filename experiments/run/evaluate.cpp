#include "experiments/run/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "experiments/config/schema/printer.h"
#include "experiments/config/schema/schema.h"
#include "experiments/run/run_data.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"
#include "tokenizer/tokenizer.h"
#include "training/inference/translator.h"
#include "training/likelihood.h"
#include "training/metrics/bleu.h"
#include "training/metrics/chrf.h"
#include "training/metrics/rouge.h"

namespace ablate::run {
namespace {

std::vector<std::string> outputs_of(records::TestScores& scores,
                                    const training::Translator& translator,
                                    const data::TestSet& test,
                                    const models::SearchOptions& decoding) {
  std::vector<std::string> lines, outputs;
  for (const auto& example : test.examples) lines.push_back(example.source);
  models::SearchCount count;
  for (auto& translation : training::translate(translator, lines, decoding, &count)) {
    scores.cut_outputs += translation.ended ? 0 : 1;
    outputs.push_back(std::move(translation.text));
  }
  if (count.passes > 0)
    scores.tokens_per_pass = static_cast<double>(count.tokens) / static_cast<double>(count.passes);
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

/// The predicted ids.
std::span<const int32_t> written(const data::EncodedExample& example) {
  return std::span(example.target).subspan(static_cast<size_t>(example.prompt_length));
}

/// The ids that are neither the start nor the end of a text.
int64_t inner_tokens(std::span<const int32_t> ids) {
  return std::ranges::count_if(
      ids, [](int32_t id) { return id != tokenizer::kBos && id != tokenizer::kEos; });
}

/// Mean lengths of the sides, and the share of unknown tokens. A class has no tokens, and running
/// text that a decoder reads no source.
void add_tokens(records::TestScores& scores, const data::EncodedSet& encoded) {
  const bool pairs = data::writes_outputs(scores.compared);
  int64_t sources = 0, targets = 0;
  for (const auto& example : encoded.examples) {
    const auto prompt = pairs ? static_cast<size_t>(example.prompt_length) : 0;
    sources += inner_tokens(example.source.empty() ? std::span(example.target).first(prompt)
                                                   : std::span(example.source));
    targets += scores.compared == data::Compared::label ? 0 : inner_tokens(written(example));
  }
  const auto examples = static_cast<double>(encoded.examples.size());
  scores.source_tokens = static_cast<double>(sources) / examples;
  scores.target_tokens = static_cast<double>(targets) / examples;
  scores.unknown_targets = unknown_share(encoded, scores.compared == data::Compared::label);
}

/// Adds how faithfully the tokenizer writes the targets. Returns the nats for spelling the text of
/// unknown tokens.
double add_fidelity(records::TestScores& scores, const data::TestSet& test,
                    const tokenizer::Tokenizer& tokenizer) {
  const double price = std::log(257);  // of each byte, and of the sign that ends a spelling
  int64_t signs = 0;
  for (const auto& example : test.examples) {
    const auto found = tokenizer::fidelity(tokenizer, example.target);
    signs += found.hidden_bytes + found.unknown_tokens;
    scores.altered_references += found.altered ? 1 : 0;
    scores.unwritable_references += found.lost ? 1 : 0;
  }
  return price * static_cast<double>(signs);
}

/// Adds the divergence or the bits per parameter; `nats` is -ln of the targets' probability.
void add_knowledge(records::TestScores& scores, double nats, const training::Likelihood& likelihood,
                   int64_t parameters) {
  const auto tokens = static_cast<double>(likelihood.tokens);
  if (scores.compared == data::Compared::nothing)
    scores.divergence = likelihood.nll - nats / (tokens + 1);  // the first one is not predicted
  else
    scores.bits_per_parameter = std::max(0.0, nats - likelihood.nll * tokens) / std::numbers::ln2 /
                                static_cast<double>(parameters);
}

void add_likelihood(records::TestScores& scores, const training::Translator& translator,
                    const data::TestSet& test, const training::LikelihoodOptions& options) {
  const auto encoded = translator.format.encode(test.examples, translator.tokenizers);
  add_tokens(scores, encoded);
  const auto likelihood = training::likelihood(translator.model, encoded.examples, options);
  scores.tokens = likelihood.tokens;
  scores.token_accuracy = likelihood.token_accuracy;
  scores.perplexity = likelihood.perplexity();
  scores.position_accuracy = likelihood.position_accuracy;
  if (test.nats) add_knowledge(scores, *test.nats, likelihood, translator.model.parameters());
  scores.nats_per_character = records::kNotMeasured;
  if (scores.compared == data::Compared::label || scores.compared == data::Compared::tokens) return;
  const auto spelled = add_fidelity(scores, test, translator.tokenizers.target);
  // With masking only some tokens are predicted, so there is no sum over all characters.
  if (options.masking) return;
  scores.nats_per_character = (likelihood.nll * static_cast<double>(likelihood.tokens) + spelled) /
                              static_cast<double>(characters_of(test));
}

/// The share of outputs that equal their references.
double share_equal(std::span<const std::string> outputs, std::span<const std::string> references) {
  int64_t equal = 0;
  for (size_t i = 0; i < references.size(); ++i) equal += outputs[i] == references[i] ? 1 : 0;
  return static_cast<double>(equal) / static_cast<double>(references.size());
}

std::vector<std::string> normal_forms(std::vector<std::string> texts,
                                      const tokenizer::Tokenizer& tokenizer) {
  for (auto& text : texts) text = tokenizer::normal_form(tokenizer, text);
  return texts;
}

/// Compares the outputs with the references of the set.
void add_text_scores(Evaluation& evaluation, records::TestScores& scores,
                     const std::vector<std::string>& outputs,
                     const std::vector<std::string>& references) {
  const auto rouge = training::rouge(outputs, references);
  if (rouge.defined) {
    scores.rouge_1 = rouge.one;
    scores.rouge_2 = rouge.two;
    scores.rouge_l = rouge.longest;
  }
  const auto bleu = training::bleu(outputs, references);
  const auto chrf = training::chrf(outputs, references);
  scores.bleu = bleu.defined ? bleu.score : std::numeric_limits<double>::quiet_NaN();
  scores.chrf = chrf.defined ? chrf.score : std::numeric_limits<double>::quiet_NaN();
  if (bleu.reference_length > 0)
    scores.length_ratio =
        static_cast<double>(bleu.hypothesis_length) / static_cast<double>(bleu.reference_length);
  evaluation.bleu_signature = bleu.signature;
  evaluation.chrf_signature = chrf.signature;
}

/// Decodes the sources of the set and compares.
void add_outputs(Evaluation& evaluation, records::TestScores& scores,
                 const training::Translator& translator, const data::TestSet& test,
                 const models::SearchOptions& decoding) {
  const auto start = std::chrono::steady_clock::now();
  auto outputs = outputs_of(scores, translator, test, decoding);
  scores.decode_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<std::string> references;
  for (const auto& example : test.examples) references.push_back(example.target);
  scores.exact_match = share_equal(outputs, references);
  if (scores.compared == data::Compared::text) {
    const auto& tokenizer = translator.tokenizers.target;
    const auto written = normal_forms(outputs, tokenizer),
               wanted = normal_forms(references, tokenizer);
    scores.exact_match_raw = scores.exact_match;
    scores.exact_match = share_equal(written, wanted);
    scores.word_error_rate_raw = training::word_error_rate(outputs, references);
    scores.word_error_rate = training::word_error_rate(written, wanted);
    add_text_scores(evaluation, scores, outputs, references);
  }
  evaluation.outputs.push_back(std::move(outputs));
}

}  // namespace

Evaluation evaluate(const training::Translator& translator, const std::vector<data::TestSet>& tests,
                    const config::Experiment& experiment) {
  check_lengths(experiment, translator.format, translator.tokenizers, tests);
  Evaluation evaluation;
  const auto& format = translator.format;
  const auto compared = format.compared();
  const training::LikelihoodOptions likelihood{experiment.training.tokens_per_batch,
                                               format.masking(translator.tokenizers)};
  for (const auto& test : tests) {
    records::TestScores scores{.name = test.name,
                               .length = test.length,
                               .unit = test.unit,
                               .extrapolates = test.extrapolates,
                               .examples = static_cast<int64_t>(test.examples.size()),
                               .in_training = test.in_training,
                               .compared = compared};
    if (data::writes_outputs(compared))
      add_outputs(evaluation, scores, translator, test, experiment.decoding);
    add_likelihood(scores, translator, test, likelihood);
    if (evaluation.tests.empty())
      evaluation.first_passes = scoring_passes(
          {format.encode(test.examples, translator.tokenizers).examples, likelihood});
    evaluation.tests.push_back(std::move(scores));
  }
  return evaluation;
}

double unknown_share(const data::EncodedSet& set, bool labels) {
  int64_t targets = 0, unknown = 0;
  for (const auto& example : set.examples) {
    const auto ids = written(example);
    targets += std::ssize(ids) - std::ranges::count(ids, tokenizer::kEos);
    unknown += std::ranges::count(ids, tokenizer::kUnk);
  }
  if (labels || targets == 0) return records::kNotMeasured;
  return static_cast<double>(unknown) / static_cast<double>(targets);
}

Validation validation_of(models::Transformer& model, const data::EncodedSet& set,
                         const training::LikelihoodOptions& options) {
  return {training::likelihood(model, set.examples, options), unknown_share(set, model->labels())};
}

Validation validation_of(LoadedRun& run, const data::Corpus& corpus) {
  return validation_of(
      run.model, run.format.encode(corpus.validation, run.tokenizers),
      {run.experiment.training.tokens_per_batch, run.format.masking(run.tokenizers)});
}

records::RunResult result_of(const models::Transformer& model, const Validation& validation,
                             Evaluation&& evaluation) {
  return {.parameters = models::parameter_count(*model),
          .active_parameters = active_parameter_count(*model),
          .table_parameters = table_parameter_count(*model),
          .flops_per_token = flops_per_token(*model, evaluation.first_passes),
          .validation_perplexity = validation.likelihood.perplexity(),
          .validation_token_accuracy = validation.likelihood.token_accuracy,
          .validation_unknown_targets = validation.unknown_targets,
          .bleu_signature = evaluation.bleu_signature,
          .chrf_signature = evaluation.chrf_signature,
          .tests = std::move(evaluation.tests)};
}

namespace {

/// A leaf's YAML as a value that TensorBoard can sort by.
std::variant<bool, double, std::string> parameter(const std::string& yaml) {
  const auto value = nlohmann::json::parse(yaml, nullptr, false);
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return yaml;
}

}  // namespace

training::Session session_of(const records::RunPlan& plan, const config::Experiment& experiment) {
  constexpr size_t kDigits = 8;  // distinguish arms with different --set in two output folders
  const auto digest = tokenizer::sha256(config::canonical(experiment)).substr(0, kDigits);
  training::Session session{
      .group = fmt::format("{}/{}/{} {}", plan.study, plan.task, plan.arm, digest),
      .parameters = {{"task", plan.task}, {"arm", plan.arm}}};
  for (const auto& leaf : config::leaves_of(experiment))
    if (plan.given.contains(leaf.path)) session.parameters[leaf.path] = parameter(leaf.text);
  return session;
}

std::vector<training::Scalar> final_scalars(const records::RunResult& result) {
  std::vector<training::Scalar> scalars;
  for (const auto& test : result.tests)
    for (const auto& metric : config::metrics_on(test.compared))
      if (const double value = records::value_of(test, metric); std::isfinite(value))
        scalars.push_back({fmt::format("test/{}/{}", test.name, metric.name), value});
  return scalars;
}

}  // namespace ablate::run
