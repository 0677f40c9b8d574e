#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "data/data_options.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/study/study.h"
#include "experiments/records/failure.h"
#include "experiments/records/folders.h"
#include "experiments/records/run_start.h"
#include "options/members.h"

namespace ablate::data {
NLOHMANN_JSON_SERIALIZE_ENUM(Compared, {{Compared::text, "text"},
                                        {Compared::label, "label"},
                                        {Compared::nothing, "nothing"},
                                        {Compared::tokens, "tokens"}})
}  // namespace ablate::data

namespace ablate::records {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// Scores of a model on one test set. Text scores compare decoded with reference text; token
/// accuracy and perplexity are teacher-forced over the target tokens without padding, the end token
/// included.
struct TestScores {
  std::string name;
  int64_t length = 0;         // of every source, in `unit`; 0: lengths vary
  std::string unit;           // "symbols" or "digits"; empty without a length
  bool extrapolates = false;  // is longer than anything in training
  int64_t examples = 0;       // of running text its lines, of tokens 1
  int64_t tokens = 0;         // that are scored: all targets, their end tokens included
  int64_t in_training = 0;    // examples that are also in the training data
  double source_tokens = 0, target_tokens = 0;      // means, without start and end tokens
  double bleu = kNotMeasured, chrf = kNotMeasured;  // also NaN if no reference has n-grams to count
  /// Share of outputs equal to their reference, of text under the tokenizer's normalisation.
  double exact_match = kNotMeasured;
  double token_accuracy = 0;
  double perplexity = 0;
  /// Counts the text of unknown tokens by bytes; NaN for masked and label models, and for tokens
  /// without their text.
  double nats_per_character = 0;
  /// Measured only if the probability of the targets is known.
  double divergence = kNotMeasured, bits_per_parameter = kNotMeasured;
  double rouge_1 = kNotMeasured, rouge_2 = kNotMeasured, rouge_l = kNotMeasured;  // F1, 0 to 1
  double word_error_rate = kNotMeasured;  // edits of words / words, normalised as for exact match
  double exact_match_raw = kNotMeasured,
         word_error_rate_raw = kNotMeasured;  // not normalised
  double length_ratio = kNotMeasured;         // 13a tokens of the outputs / of the references
  double tokens_per_pass = kNotMeasured;      // that decoding writes; above 1 if it drafts
  double decode_seconds = kNotMeasured;       // wall clock
  double unknown_targets = kNotMeasured;      // share of the target tokens, end tokens excluded
  int64_t cut_outputs = 0;                    // that reached the maximum length
  int64_t altered_references = 0;             // that change if they are encoded and decoded
  int64_t unwritable_references = 0;      // of these, those that change even after normalisation
  std::vector<double> position_accuracy;  // token accuracy by target position
  data::Compared compared = data::Compared::text;

  ABLATE_FIELDS(name, length, unit, extrapolates, examples, tokens, in_training, source_tokens,
                target_tokens, bleu, chrf, exact_match, token_accuracy, perplexity,
                nats_per_character, divergence, bits_per_parameter, rouge_1, rouge_2, rouge_l,
                word_error_rate, exact_match_raw, word_error_rate_raw, length_ratio,
                tokens_per_pass, decode_seconds, unknown_targets, cut_outputs, altered_references,
                unwritable_references, position_accuracy, compared)
};

/// A finished run: the content of result.json.
struct RunResult {
  std::string study, task, arm;
  int64_t seed = 0;
  int64_t parameters = 0, active_parameters = 0;
  int64_t table_parameters = 0;    // of the tables of tokens: embeddings and the output's weight
  int64_t trained_parameters = 0;  // that are not frozen; 0: it only evaluates weights
  int64_t target_vocabulary = 0;   // different tokens that targets can have, or classes
  double flops_per_token = 0;      // of the passes that score the first test set; NaN without one
  int64_t steps = 0;               // updates of this run; 0: it only evaluates weights
  int64_t earlier_steps = 0;       // updates of the weights before this run
  int64_t skipped_updates = 0;
  int64_t skipped_lines = 0;
  int64_t repeated_pairs = 0, lopsided_pairs = 0;  // left out by data.filter
  int64_t cut_sources = 0, cut_targets = 0;        // training texts longer than max_length
  /// Label-smoothed, of the last log interval; NaN if the model was not trained.
  double train_loss = kNotMeasured;
  double validation_perplexity = 0;
  double validation_token_accuracy = 0;
  double validation_unknown_targets = kNotMeasured;  // share of unknown target tokens
  /// Of the last observation, over all places; NaN if it was not observed.
  double attention_entropy = kNotMeasured, attention_sink = kNotMeasured;
  double rank_residual = kNotMeasured, active_neurons = kNotMeasured;
  double update_ratio = kNotMeasured, gradient_noise = kNotMeasured;
  /// Largest share of the experts' choices / mean share, of the first batch of the last logged
  /// update, the mean over the mixtures; 1: even. NaN without experts.
  double expert_imbalance = kNotMeasured;
  double training_seconds = 0;   // over all starts, without validation, observation and saving
  double training_flops = 0;     // of all updates (models/transformer_flops.h)
  int64_t tokens = 0;            // target tokens trained on, the end token included
  int64_t text_tokens = 0;       // target tokens of the training set, in one reading
  int64_t longest_sequence = 0;  // tokens of the longest side in training
  int64_t memory_bytes = 0;      // peak of the process, or on CUDA of the allocator
  std::string data_sha256;       // of the examples
  std::string target_tokenizer_sha256;
  std::string hardware;  // of all starts: hardware_of()
  InitialWeights initial_weights;
  std::string weights;                  // the weights that were evaluated
  std::vector<std::string> shortfalls;  // sizes of its data that are less than requested
  std::string bleu_signature, chrf_signature;
  std::vector<TestScores> tests;
  std::map<std::string, std::string> files;  // name: SHA-256 of the files that reports read

  ABLATE_FIELDS(study, task, arm, seed, parameters, active_parameters, table_parameters,
                trained_parameters, target_vocabulary, flops_per_token, steps, earlier_steps,
                skipped_updates, skipped_lines, repeated_pairs, lopsided_pairs, cut_sources,
                cut_targets, train_loss, validation_perplexity, validation_token_accuracy,
                validation_unknown_targets, attention_entropy, attention_sink, rank_residual,
                active_neurons, update_ratio, gradient_noise, expert_imbalance, training_seconds,
                training_flops, tokens, text_tokens, longest_sequence, memory_bytes, data_sha256,
                target_tokenizer_sha256, hardware, initial_weights, weights, shortfalls,
                bleu_signature, chrf_signature, tests, files)
};

/// Updates of the run's weights, in this run and before.
inline int64_t all_steps(const RunResult& run) { return run.steps + run.earlier_steps; }

/// Whether the targets of the run's test sets are classes.
inline bool scores_classes(const RunResult& run) {
  return !run.tests.empty() && run.tests.front().compared == data::Compared::label;
}

/// The value of `metric` in test scores or in a run's result; NaN if they have no such field.
template <class Scores>
double value_of(const Scores& scores, const config::Metric& metric) {
  double value = kNotMeasured;
  Scores::fields(scores, [&]<class Member>(const char* name, const Member& member) {
    if constexpr (std::is_same_v<Member, double>)
      if (name == metric.field) value = member;
  });
  return metric.converted == nullptr ? value : metric.converted(value);
}

/// The value of `metric` on a test set of the run; NaN if the run was not tested on it.
double value_on(const RunResult& run, const std::string& test_set, const config::Metric& metric);

/// Fills in the metrics that the run's log has, each at its last step. Observed ones: the value of
/// the whole model if there is one, the rank residual of the last layer, and otherwise the mean
/// over the places. The experts' imbalance: the mean over the mixtures.
void add_logged(RunResult& result, const std::vector<nlohmann::json>& log);

/// The finished run in `folder`; absent if it has not finished. Throws CheckpointError if its
/// result.json is damaged.
std::optional<RunResult> read_result(const RunFolder& folder);

/// Writes result.json with the digests of the files beside it. Throws IoError.
void write_result(const RunFolder& folder, RunResult result);

/// Throws CheckpointError if a file of the result has changed, or its name is not one of a file in
/// the folder. Missing files are ignored.
void check_files(const RunFolder& folder, const RunResult& result);

/// The runs of a study's folder.
struct StudyRuns {
  StudyFolder folder;
  std::vector<RunResult> results;
  std::vector<MissingRun> missing;        // runs of the study without a result
  std::vector<MissingRun> left_out = {};  // is_left_out(): not among the missing
  std::vector<int64_t> other_seeds = {};  // declared, but not those of the runs
};

/// The runs of `study` in its folder. Throws CheckpointError if a result.json or a file of it is
/// damaged.
StudyRuns read_runs(const config::Study& study, const StudyFolder& folder);

}  // namespace ablate::records
