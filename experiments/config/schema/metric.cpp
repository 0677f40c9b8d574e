#include "experiments/config/schema/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "experiments/config/schema/option.h"

namespace ablate::config {
namespace {

using data::Compared;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Metrics of outputs, compared with their references.
std::vector<Metric> output_metrics() {
  return {{.name = "exact_match",
           .label = "exact match",
           .meaning = "share of outputs that equal their reference, both under the tokenizer's own "
                      "normalisation",
           .high = 1,
           .on = {Compared::text, Compared::label},
           .counts_right = true},
          {.name = "token_accuracy",
           .label = "token accuracy",
           .meaning = "share of target tokens that are the most likely prediction, teacher-forced",
           .high = 1,
           .on = {Compared::text, Compared::nothing},
           .counts_right = true,
           .per_token = true},
          {.name = "bleu",
           .label = "BLEU",
           .meaning = "corpus BLEU with sacreBLEU's defaults, 0 to 100",
           .high = 100,
           .digits = 1,
           .on = {Compared::text}},
          {.name = "chrf",
           .label = "chrF",
           .meaning = "corpus chrF2 as in sacreBLEU, 0 to 100",
           .high = 100,
           .digits = 1,
           .on = {Compared::text}}};
}

/// Metrics of the targets, teacher-forced.
std::vector<Metric> likelihood_metrics() {
  return {
      {.name = "perplexity",
       .label = "perplexity",
       .meaning = "perplexity of the target tokens, teacher-forced",
       .direction = Direction::lower,
       .low = 1,
       .on = {Compared::text, Compared::label, Compared::nothing, Compared::tokens},
       .per_token = true},
      {.name = "loss",
       .label = "loss",
       .meaning = "the logarithm of perplexity: nats per target token",
       .direction = Direction::lower,
       .on = {Compared::text, Compared::label, Compared::nothing, Compared::tokens},
       .field = "perplexity",
       .converted = [](double perplexity) { return std::log(perplexity); },
       .per_token = true},
      {.name = "nats_per_character",
       .label = "nats per character",
       .meaning = "loss per character of the targets, comparable between tokenizers: the text of "
                  "an unknown token counts ln 257 nats per byte; not measured for masked models",
       .direction = Direction::lower,
       .digits = 4,
       .on = {Compared::text, Compared::nothing}},
      {.name = "bits_per_character",
       .label = "bits per character",
       .meaning = "nats_per_character in bits",
       .direction = Direction::lower,
       .digits = 4,
       .on = {Compared::text, Compared::nothing},
       .field = "nats_per_character",
       .converted = [](double nats) { return nats / std::numbers::ln2; }}};
}

/// Metrics of knowledge, which compare the loss with the true probability of the targets.
std::vector<Metric> knowledge_metrics() {
  std::vector<Metric> all{
      {.name = "divergence",
       .label = "divergence",
       .meaning = "loss less the entropy of the test set, -ln of its probability by the grammar "
                  "divided by its tokens: an estimate of the KL divergence between grammar and "
                  "model, in nats per token, to which blocks with little context add; of the task "
                  "lano",
       .direction = Direction::lower,
       .low = -kUnbounded,
       .digits = 4,
       .on = {Compared::nothing}},
      {.name = "bits_per_parameter",
       .label = "bits per parameter",
       .meaning = "drawn bits of the targets that the model knows, by how far its loss is below "
                  "that of guessing, / its parameters; 0 if it is not below; of the tasks facts "
                  "and capo",
       .on = {Compared::text}}};
  for (auto& metric : all) {
    metric.of_known_probabilities = true;
    metric.in_tables_above_zero = true;
  }
  return all;
}

/// Further metrics of the words of outputs.
std::vector<Metric> word_metrics() {
  return {
      {.name = "rouge_1",
       .label = "ROUGE-1",
       .meaning = "F1 of common words, 0 to 1, averaged over the outputs, as in rouge-score 0.1.2 "
                  "without stemming",
       .high = 1,
       .on = {Compared::text}},
      {.name = "rouge_2",
       .label = "ROUGE-2",
       .meaning = "rouge_1 of pairs of words",
       .high = 1,
       .on = {Compared::text}},
      {.name = "rouge_l",
       .label = "ROUGE-L",
       .meaning = "rouge_1 of the longest common subsequence of words",
       .high = 1,
       .on = {Compared::text}},
      {.name = "word_error_rate",
       .label = "word error rate",
       .meaning =
           "words to insert, delete or replace / words of all references, as in jiwer, both under "
           "the tokenizer's own normalisation; the phoneme error rate if words are phonemes",
       .direction = Direction::lower,
       .on = {Compared::text}}};
}

/// Metrics of outputs without normalisation, and of decoding.
std::vector<Metric> further_output_metrics() {
  return {
      {.name = "exact_match_raw",
       .label = "raw exact match",
       .meaning = "exact match without normalisation",
       .high = 1,
       .on = {Compared::text},
       .counts_right = true},
      {.name = "word_error_rate_raw",
       .label = "raw word error rate",
       .meaning = "word error rate without normalisation",
       .direction = Direction::lower,
       .on = {Compared::text}},
      {.name = "length_ratio",
       .label = "length ratio",
       .meaning = "13a tokens of all outputs / of all references, sacreBLEU's ratio of sys_len and "
                  "ref_len",
       .direction = Direction::neither,
       .on = {Compared::text}},
      {.name = "tokens_per_pass",
       .label = "tokens per pass",
       .meaning = "tokens that a pass of the decoder writes of an output, above 1 only with "
                  "decoding.draft",
       .on = {Compared::text}},
      {.name = "decode_seconds",
       .label = "seconds to decode",
       .meaning = "wall-clock time of decoding the test set, on the machine of the run",
       .direction = Direction::lower,
       .on = {Compared::text, Compared::label}},
      {.name = "unknown_targets",
       .label = "unknown targets",
       .meaning = "share of the target tokens, end tokens excluded, that the tokenizer does not "
                  "know; shown beside every score if it is above 0",
       .direction = Direction::neither,
       .high = 1,
       .on = {Compared::text, Compared::nothing},
       .in_tables_above_zero = true}};
}

/// Metrics of a whole run, from training or validation.
std::vector<Metric> metrics_of_runs() {
  return {{.name = "train_loss",
           .label = "train loss",
           .meaning = "label-smoothed loss of the last log interval",
           .direction = Direction::lower,
           .per_token = true},
          {.name = "validation_perplexity",
           .label = "validation perplexity",
           .meaning = "perplexity of the evaluated weights on the validation set",
           .direction = Direction::lower,
           .low = 1,
           .per_token = true,
           .heading = "valid. ppl"},
          {.name = "validation_token_accuracy",
           .label = "validation token accuracy",
           .meaning = "token_accuracy of the evaluated weights on the validation set",
           .high = 1,
           .per_token = true,
           .in_tables = false},
          {.name = "validation_unknown_targets",
           .label = "unknown validation targets",
           .meaning = "unknown_targets of the validation set, beside its perplexity",
           .direction = Direction::neither,
           .high = 1,
           .in_tables = false,
           .heading = "valid. unknown",
           .in_tables_above_zero = true},
          {.name = "expert_imbalance",
           .label = "imbalance of experts",
           .meaning = "largest share of a mixture's choices that an expert gets / mean share, of "
                      "the first batch of the last logged update, averaged over the mixtures; 1 if "
                      "all get the same",
           .direction = Direction::lower,
           .low = 1,
           .digits = 2,
           .in_tables = false,
           .of_mixtures = true,
           .in_tables_above_zero = true}};
}

/// Metrics of what training spends until it reaches a target.
std::vector<Metric> metrics_of_cost() {
  std::vector<Metric> costs;
  for (const auto resource : kResources)
    costs.push_back({.name = to_target(resource),
                     .label = label_of(resource) + " to the target",
                     .meaning = label_of(resource) +
                                " of training until the validation set reaches `compare.cost_to`",
                     .direction = Direction::lower,
                     .digits = resource == Resource::seconds ? 1 : 0,
                     .field = "",
                     .per_token = true});
  return costs;
}

/// Metrics of the last observation of the model. They describe the model and do not rank it.
std::vector<Metric> observed_metrics() {
  std::vector<Metric> observed{
      {.name = "attention_entropy",
       .label = "attention entropy",
       .meaning = "entropy of each query's attention weights in nats, averaged over all attention "
                  "layers and heads"},
      {.name = "attention_sink",
       .label = "attention on the first key",
       .meaning = "attention weight of the first key, averaged over all attention layers and heads",
       .high = 1},
      {.name = "rank_residual",
       .label = "rank residual",
       .meaning = "norm of the residual stream after the last layer, less its mean over the "
                  "positions, / norm of the stream: 0 if all positions are equal",
       .high = 1,
       .digits = 4},
      {.name = "active_neurons",
       .label = "active neurons",
       .meaning =
           "share of the feed-forwards' hidden units that are not zero, averaged over the layers",
       .high = 1},
      {.name = "update_ratio",
       .label = "update ratio",
       .meaning = "norm of the last update / norm of the weights before it",
       .digits = 6},
      {.name = "gradient_noise",
       .label = "gradient noise",
       .meaning = "simple noise scale of the last update, in target tokens",
       .low = -kUnbounded,
       .digits = 0}};
  for (auto& metric : observed) {
    metric.direction = Direction::neither;
    metric.observed = true;
  }
  return observed;
}

/// Metrics that tables show only if a study asks for them.
std::vector<Metric> on_demand(std::vector<Metric> all) {
  for (auto& metric : all) metric.in_tables = false;
  return all;
}

std::vector<std::string> names_where(bool (*wanted)(const Metric&)) {
  std::vector<std::string> names;
  for (const auto& metric : metrics())
    if (wanted(metric)) names.push_back(metric.name);
  return names;
}

}  // namespace

const std::vector<Metric>& metrics() {
  static const auto kMetrics = [] {
    std::vector<Metric> all;
    for (auto group :
         {output_metrics(), likelihood_metrics(), on_demand(knowledge_metrics()),
          on_demand(word_metrics()), on_demand(further_output_metrics()), metrics_of_runs(),
          on_demand(metrics_of_cost()), on_demand(observed_metrics())})
      std::ranges::move(group, std::back_inserter(all));
    return all;
  }();
  return kMetrics;
}

std::string number_text(double value, int digits) {
  constexpr double kMost = 1e9;
  if (std::isnan(value)) return "-";
  if (std::isfinite(value) && std::abs(value) >= kMost) return fmt::format("{:.3e}", value);
  const auto text = fmt::format("{:.{}f}", value, digits);
  // Print no minus sign before zero.
  const bool zero = text.front() == '-' && text.find_first_of("123456789i") == std::string::npos;
  return zero ? text.substr(1) : text;
}

bool is_above(double mean, double other) {
  constexpr double kRounding = 1e-9;
  if (std::isinf(mean) || std::isinf(other)) return mean > other;
  return mean - other > kRounding * std::max(std::abs(mean), std::abs(other));
}

const Metric* find_metric(std::string_view name) {
  const auto found = std::ranges::find(metrics(), name, &Metric::name);
  return found == metrics().end() ? nullptr : &*found;
}

std::vector<Metric> metrics_on(data::Compared compared) {
  std::vector<Metric> found;
  std::ranges::copy_if(metrics(), std::back_inserter(found), [&](const Metric& metric) {
    return std::ranges::find(metric.on, compared) != metric.on.end();
  });
  return found;
}

std::vector<Metric> run_metrics() {
  std::vector<Metric> found;
  std::ranges::copy_if(metrics(), std::back_inserter(found), [](const Metric& metric) {
    return metric.on.empty() && !metric.field.empty();
  });
  return found;
}

const std::vector<std::string>& names_of_metrics() {
  static const auto kNames = names_where([](const Metric&) { return true; });
  return kNames;
}

const std::vector<std::string>& names_of_comparable_metrics() {
  static const auto kNames =
      names_where([](const Metric& metric) { return metric.direction != Direction::neither; });
  return kNames;
}

bool is_per_token(std::string_view metric, data::Compared compared) {
  const auto* known = find_metric(metric);
  return known != nullptr && known->per_token && compared != data::Compared::label;
}

std::string label_of(Resource resource) {
  return resource == Resource::flops ? "FLOPs" : word_of(resource);
}

std::string to_target(Resource resource) { return word_of(resource) + "_to_target"; }

}  // namespace ablate::config
