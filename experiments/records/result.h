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

namespace ablate::data {
NLOHMANN_JSON_SERIALIZE_ENUM(Compared, {{Compared::text, "text"},
                                        {Compared::label, "label"},
                                        {Compared::nothing, "nothing"}})
}  // namespace ablate::data

namespace ablate::records {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// What a model scored on one test set. Text scores compare decoded with reference text; token
/// accuracy and perplexity are teacher-forced over the target tokens without padding, the end token
/// included.
struct TestScores {
  std::string name;
  int64_t length = 0;         // of every source, in `unit`; 0: they have no one length
  std::string unit;           // "symbols" or "digits"; empty without a length
  bool extrapolates = false;  // is longer than anything in training
  int64_t examples = 0;
  int64_t in_training = 0;                          // of them, those that training shows, too
  double source_tokens = 0, target_tokens = 0;      // means, without start and end tokens
  double bleu = kNotMeasured, chrf = kNotMeasured;  // and where no reference has what they count
  /// Share of outputs equal to their reference, of text under the tokenizer's normalisation.
  double exact_match = kNotMeasured;
  double token_accuracy = 0;
  double perplexity = 0;
  /// With what unknown tokens hide spelled out; NaN of masked and label models.
  double nats_per_character = 0;
  double rouge_1 = kNotMeasured, rouge_2 = kNotMeasured, rouge_l = kNotMeasured;  // F1, 0 to 1
  double word_error_rate = kNotMeasured;  // edits of words / words, normalised as for exact match
  double exact_match_raw = kNotMeasured, word_error_rate_raw = kNotMeasured;  // of text as it is
  double length_ratio = kNotMeasured;     // 13a tokens of the outputs / of the references
  double decode_seconds = kNotMeasured;   // wall clock
  double unknown_targets = kNotMeasured;  // share of the target tokens without their ends
  int64_t cut_outputs = 0;                // that ended at the greatest length
  int64_t altered_references = 0;         // that the tokenizer writes in another way
  int64_t unwritable_references = 0;      // of these, those that differ even when normalised
  std::vector<double> position_accuracy;  // token accuracy at each target position, from the first
  data::Compared compared = data::Compared::text;

  static void fields(auto& o, auto&& visit) {
    visit("name", o.name);
    visit("length", o.length);
    visit("unit", o.unit);
    visit("extrapolates", o.extrapolates);
    visit("examples", o.examples);
    visit("in_training", o.in_training);
    visit("source_tokens", o.source_tokens);
    visit("target_tokens", o.target_tokens);
    visit("bleu", o.bleu);
    visit("chrf", o.chrf);
    visit("exact_match", o.exact_match);
    visit("token_accuracy", o.token_accuracy);
    visit("perplexity", o.perplexity);
    visit("nats_per_character", o.nats_per_character);
    visit("rouge_1", o.rouge_1);
    visit("rouge_2", o.rouge_2);
    visit("rouge_l", o.rouge_l);
    visit("word_error_rate", o.word_error_rate);
    visit("exact_match_raw", o.exact_match_raw);
    visit("word_error_rate_raw", o.word_error_rate_raw);
    visit("length_ratio", o.length_ratio);
    visit("decode_seconds", o.decode_seconds);
    visit("unknown_targets", o.unknown_targets);
    visit("cut_outputs", o.cut_outputs);
    visit("altered_references", o.altered_references);
    visit("unwritable_references", o.unwritable_references);
    visit("position_accuracy", o.position_accuracy);
    visit("compared", o.compared);
  }
};

/// One finished run: what result.json holds.
struct RunResult {
  std::string study, task, arm;
  int64_t seed = 0;
  int64_t parameters = 0, active_parameters = 0;
  int64_t target_vocabulary = 0;  // tokens that a target can consist of
  double flops_per_token = 0;     // of a forward pass, at the mean lengths of the first test set
  int64_t steps = 0;              // made by this run; 0: its weights were only evaluated
  int64_t earlier_steps = 0;      // of the run that it started from, and of those before
  int64_t skipped_updates = 0;
  int64_t skipped_lines = 0;
  int64_t cut_sources = 0, cut_targets = 0;  // training sides longer than max_length
  /// Label-smoothed, of the last log interval; NaN of a model that was not trained.
  double train_loss = kNotMeasured;
  double validation_perplexity = 0;
  double validation_token_accuracy = 0;
  double validation_unknown_targets = kNotMeasured;  // the same of the validation set
  /// Of the last observation over all places; NaN of what was not observed.
  double attention_entropy = kNotMeasured, attention_sink = kNotMeasured;
  double rank_residual = kNotMeasured, active_neurons = kNotMeasured;
  double update_ratio = kNotMeasured, gradient_noise = kNotMeasured;
  double tokens_per_second = 0;  // of the last uninterrupted stretch of training
  double training_seconds = 0;   // of that stretch
  int64_t tokens = 0;            // target tokens trained on, the end token included
  int64_t memory_bytes = 0;  // most that the process held, on CUDA most that was allocated there
  std::string data_sha256;   // of the examples
  std::string target_tokenizer_sha256;
  std::string hardware;  // of all starts: hardware_of()
  InitialWeights initial_weights;
  std::string weights;                  // which were evaluated
  std::vector<std::string> shortfalls;  // what its data have less of than was asked for
  std::string bleu_signature, chrf_signature;
  std::vector<TestScores> tests;
  std::map<std::string, std::string> files;  // name: SHA-256 of what the report reads beside it

  static void fields(auto& o, auto&& visit) {
    visit("study", o.study);
    visit("task", o.task);
    visit("arm", o.arm);
    visit("seed", o.seed);
    visit("parameters", o.parameters);
    visit("active_parameters", o.active_parameters);
    visit("target_vocabulary", o.target_vocabulary);
    visit("flops_per_token", o.flops_per_token);
    visit("steps", o.steps);
    visit("earlier_steps", o.earlier_steps);
    visit("skipped_updates", o.skipped_updates);
    visit("skipped_lines", o.skipped_lines);
    visit("cut_sources", o.cut_sources);
    visit("cut_targets", o.cut_targets);
    visit("train_loss", o.train_loss);
    visit("validation_perplexity", o.validation_perplexity);
    visit("validation_token_accuracy", o.validation_token_accuracy);
    visit("validation_unknown_targets", o.validation_unknown_targets);
    visit("attention_entropy", o.attention_entropy);
    visit("attention_sink", o.attention_sink);
    visit("rank_residual", o.rank_residual);
    visit("active_neurons", o.active_neurons);
    visit("update_ratio", o.update_ratio);
    visit("gradient_noise", o.gradient_noise);
    visit("tokens_per_second", o.tokens_per_second);
    visit("training_seconds", o.training_seconds);
    visit("tokens", o.tokens);
    visit("memory_bytes", o.memory_bytes);
    visit("data_sha256", o.data_sha256);
    visit("target_tokenizer_sha256", o.target_tokenizer_sha256);
    visit("hardware", o.hardware);
    visit("initial_weights", o.initial_weights);
    visit("weights", o.weights);
    visit("shortfalls", o.shortfalls);
    visit("bleu_signature", o.bleu_signature);
    visit("chrf_signature", o.chrf_signature);
    visit("tests", o.tests);
    visit("files", o.files);
  }
};

/// Updates that the run's weights have been through, those before it included.
inline int64_t all_steps(const RunResult& run) { return run.steps + run.earlier_steps; }

/// Whether what the run is tested on has classes as targets.
inline bool scores_classes(const RunResult& run) {
  return !run.tests.empty() && run.tests.front().compared == data::Compared::label;
}

/// What `metric` is in test scores or a run's result; NaN where they have no such field.
template <class Scores>
double value_of(const Scores& scores, const config::Metric& metric) {
  double value = kNotMeasured;
  Scores::fields(scores, [&]<class Member>(const char* name, const Member& member) {
    if constexpr (std::is_same_v<Member, double>)
      if (name == metric.field) value = member;
  });
  return metric.converted == nullptr ? value : metric.converted(value);
}

/// The same on one of its test sets; NaN where it was not tested on that.
double value_on(const RunResult& run, const std::string& test_set, const config::Metric& metric);

/// Fills in what the run's log holds of each thing that was observed: the last value of the whole
/// model where there is one, of the rank residual that of the last layer, and otherwise the mean
/// over the places.
void add_observed(RunResult& result, const std::vector<nlohmann::json>& log);

/// The finished run in `folder`; nothing if it has not finished. Throws CheckpointError if its
/// result.json is damaged.
std::optional<RunResult> read_result(const RunFolder& folder);

/// Writes result.json with the digests of the files beside it. Throws IoError.
void write_result(const RunFolder& folder, RunResult result);

/// Throws CheckpointError where one of these files is no longer the one that was written, or is not
/// in the folder. One that is missing is no damage.
void check_files(const RunFolder& folder, const RunResult& result);

/// What a study's folder holds of its runs.
struct StudyRuns {
  StudyFolder folder;
  std::vector<RunResult> results;
  std::vector<MissingRun> missing;  // every other run of the study
};

/// The runs of `study` in its folder. Throws CheckpointError where a result.json or a
/// file beside it is damaged.
StudyRuns read_runs(const config::Study& study, const StudyFolder& folder);

}  // namespace ablate::records
