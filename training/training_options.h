#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "training/budget_options.h"
#include "training/device_options.h"
#include "training/init_from_options.h"
#include "training/optimizer_options.h"
#include "training/pretrained_embedding_options.h"
#include "training/schedule_options.h"

namespace ablate::training {

/// What an update with a loss or gradient norm that is not finite does.
enum class NotFinite { stop, skip };

constexpr auto names(NotFinite) {
  return std::to_array<std::pair<NotFinite, std::string_view>>(
      {{NotFinite::stop, "stop"}, {NotFinite::skip, "skip"}});
}

struct TrainingOptions {
  int64_t steps = 1000;
  BudgetOptions budget;
  int64_t tokens_per_batch = 4096;
  int64_t accumulate = 1;
  OptimizerOptions optimizer = Adam{};
  ScheduleOptions schedule = InverseSquareRoot{{.peak = 1e-3, .warmup = 400}};
  double label_smoothing = 0.1;
  double clip = 0.0;
  Precision precision = Precision::fp32;
  Device device = Device::automatic;
  std::optional<int64_t> threads;
  int64_t max_length = 256;
  int64_t log_every = 50;
  int64_t evaluate_every = 0;
  int64_t patience = 0;
  int64_t save_every = 500;
  int64_t keep = 2;
  int64_t average = 0;
  double ema = 0.0;
  NotFinite not_finite = NotFinite::stop;
  InitFromOptions init_from;
  PretrainedEmbeddingOptions pretrained_embeddings;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("steps", o.steps, "optimizer updates, where budget does not give their number");
    visit("budget", o.budget, "what a run may take: steps, tokens, flops or seconds");
    visit("tokens_per_batch", o.tokens_per_batch,
          "most target tokens, padding included, of a batch");
    visit("accumulate", o.accumulate, "batches per update");
    visit("optimizer", o.optimizer, "how gradients move the weights");
    visit("schedule", o.schedule, "learning rate as a function of the step");
    visit("label_smoothing", o.label_smoothing, "probability spread over the vocabulary");
    visit("clip", o.clip, "largest global gradient norm; 0: no clipping");
    visit("precision", o.precision, "fp32, or bf16 products where the machine has them");
    visit("device", o.device, "auto, cpu or cuda");
    visit("threads", o.threads,
          "CPU threads; absent: the cores divided by the runs of the study, at least one");
    visit("max_length", o.max_length, "pieces kept of a source or a target, with its end mark");
    visit("log_every", o.log_every, "steps between lines of metrics.jsonl");
    visit("evaluate_every", o.evaluate_every, "steps between validations; 0: only at the end");
    visit("patience", o.patience, "validations without a better loss before stopping; 0: never");
    visit("save_every", o.save_every, "steps between checkpoints");
    visit("keep", o.keep, "newest checkpoints kept besides the best");
    visit("average", o.average, "last checkpoints averaged for the evaluation; 0: none");
    visit("ema", o.ema, "decay of the exponential average of the weights; 0: none");
    visit("not_finite", o.not_finite,
          "stop or skip an update whose loss or gradient is not finite");
    visit("init_from", o.init_from, "another run to start from");
    visit("pretrained_embeddings", o.pretrained_embeddings,
          "word vectors that embeddings start from");
  }
  template <class Require>
  static void rules(const TrainingOptions& o, Require&& require) {
    require(o.steps >= (o.init_from.given() ? 0 : 1), "steps",
            o.init_from.given() ? "must not be negative" : "must be positive");
    require(o.tokens_per_batch >= 1, "tokens_per_batch", "must be positive");
    require(o.accumulate >= 1, "accumulate", "must be positive");
    require(o.label_smoothing >= 0 && o.label_smoothing < 1, "label_smoothing",
            "must be in [0, 1)");
    require(o.clip >= 0, "clip", "must not be negative");
    require(!o.threads || (*o.threads >= 1 && *o.threads <= 1024), "threads",
            "must be from 1 to 1024");
    require(o.max_length >= 2 && o.max_length <= 65'536, "max_length", "must be from 2 to 65536");
    require(o.max_length <= o.tokens_per_batch, "max_length", "must not exceed tokens_per_batch");
    require(o.log_every >= 1, "log_every", "must be positive");
    require(o.evaluate_every >= 0, "evaluate_every", "must not be negative");
    require(o.patience == 0 || o.evaluate_every > 0, "patience", "needs evaluate_every");
    require(o.patience >= 0, "patience", "must not be negative");
    require(o.save_every >= 1, "save_every", "must be positive");
    require(o.keep >= 1, "keep", "must be positive");
    require(o.average >= 0 && o.average <= o.keep, "average", "must be from 0 to keep");
    require(o.ema >= 0 && o.ema < 1, "ema", "must be in [0, 1)");
    require(o.ema == 0 || o.average == 0, "ema", "and average exclude each other");
  }
};

/// Every next piece is the likeliest, or the beam's.
struct NoSampling {
  static constexpr std::string_view name = "none";
  template <class Self, class Visit>
  static void fields(Self&, Visit&&) {}
  template <class Require>
  static void rules(const NoSampling&, Require&&) {}
};

/// Every next piece is drawn at random.
struct RandomSampling {
  static constexpr std::string_view name = "random";
  double temperature = 1.0;
  int64_t top_k = 0;
  double top_p = 1.0;
  int64_t random_seed = 1;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("temperature", o.temperature, "divides the log-probabilities: below 1 sharper");
    visit("top_k", o.top_k, "draw from the likeliest pieces only; 0: from all");
    visit("top_p", o.top_p, "draw from the likeliest pieces that together have this probability");
    visit("random_seed", o.random_seed, "of the numbers drawn; each line has its own");
  }
  template <class Require>
  static void rules(const RandomSampling& o, Require&& require) {
    require(o.temperature > 0 && o.temperature <= 100, "temperature",
            "must be above 0 and at most 100");
    require(o.top_k >= 0, "top_k", "must not be negative");
    require(o.top_p > 0 && o.top_p <= 1, "top_p", "must be above 0 and at most 1");
    require(o.random_seed >= 0, "random_seed", "must not be negative");
  }
};

using SamplingOptions = std::variant<NoSampling, RandomSampling>;

/// How targets are searched for, in evaluation and translation.
struct DecodingOptions {
  int64_t beam = 1;
  double length_penalty = 1.0;
  double coverage_penalty = 0.0;
  int64_t min_length = 0;
  int64_t max_length = 256;
  double max_ratio = 3.0;
  double repetition_penalty = 1.0;
  int64_t no_repeat_ngram = 0;
  SamplingOptions sampling;
  int64_t batch = 64;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("beam", o.beam, "hypotheses kept; 1: greedy");
    visit("length_penalty", o.length_penalty, "score = log-probability / length ^ penalty");
    visit("coverage_penalty", o.coverage_penalty,
          "times sum over source pieces of log min(1, attention), added to the score (Wu et al. "
          "2016); 0: none");
    visit("min_length", o.min_length, "fewest pieces of an output");
    visit("max_length", o.max_length, "most pieces of an output");
    visit("max_ratio", o.max_ratio, "an output has at most 10 + max_ratio * source pieces");
    visit("repetition_penalty", o.repetition_penalty,
          "above 1: weakens pieces that an output has already (Keskar et al. 2019)");
    visit("no_repeat_ngram", o.no_repeat_ngram, "no n pieces twice in an output; 0: any");
    visit("sampling", o.sampling, "draw outputs at random instead of searching");
    visit("batch", o.batch, "sentences decoded together");
  }
  template <class Require>
  static void rules(const DecodingOptions& o, Require&& require) {
    require(o.beam >= 1 && o.beam <= 256, "beam", "must be from 1 to 256");
    require(o.length_penalty >= 0 && o.length_penalty <= 10, "length_penalty",
            "must be from 0 to 10");
    require(o.coverage_penalty >= 0 && o.coverage_penalty <= 10, "coverage_penalty",
            "must be from 0 to 10");
    require(o.min_length >= 0 && o.min_length < o.max_length, "min_length",
            "must be from 0 to below max_length");
    require(o.max_length >= 1 && o.max_length <= 65'536, "max_length", "must be from 1 to 65536");
    require(o.max_ratio > 0 && o.max_ratio <= 1000, "max_ratio",
            "must be above 0 and at most 1000");
    require(o.repetition_penalty >= 1 && o.repetition_penalty <= 100, "repetition_penalty",
            "must be from 1 to 100");
    require(o.no_repeat_ngram >= 0, "no_repeat_ngram", "must not be negative");
    require(o.batch >= 1 && o.batch <= 65'536, "batch", "must be from 1 to 65536");
  }
};

}  // namespace ablate::training
