#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "training/budget_options.h"
#include "training/start_options.h"

namespace ablate::training {

enum class Precision { fp32, bf16 };

constexpr auto names(Precision) {
  return std::to_array<std::pair<Precision, std::string_view>>(
      {{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}});
}

enum class Device { automatic, cpu, cuda };

constexpr auto names(Device) {
  return std::to_array<std::pair<Device, std::string_view>>(
      {{Device::automatic, "auto"}, {Device::cpu, "cpu"}, {Device::cuda, "cuda"}});
}

/// What an update with a loss or gradient norm that is not finite does.
enum class NotFinite { stop, skip };

constexpr auto names(NotFinite) {
  return std::to_array<std::pair<NotFinite, std::string_view>>(
      {{NotFinite::stop, "stop"}, {NotFinite::skip, "skip"}});
}

/// Adam (Kingma & Ba 2015) with the constants of Vaswani et al. 2017, section 5.3.
struct Adam {
  static constexpr std::string_view name = "adam";
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-9;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("beta1", o.beta1, "decay of the first moment");
    visit("beta2", o.beta2, "decay of the second moment");
    visit("epsilon", o.epsilon, "added to the root of the second moment");
  }
  template <class Require>
  static void rules(const Adam& o, Require&& require) {
    require(o.beta1 >= 0 && o.beta1 < 1, "beta1", "must be in [0, 1)");
    require(o.beta2 >= 0 && o.beta2 < 1, "beta2", "must be in [0, 1)");
    require(o.epsilon > 0, "epsilon", "must be positive");
  }
};

/// Adam with decoupled weight decay (Loshchilov & Hutter 2019); norms and biases do not decay.
struct AdamW : Adam {
  static constexpr std::string_view name = "adamw";
  double weight_decay = 0.01;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    Adam::fields(o, visit);
    visit("weight_decay", o.weight_decay, "decoupled decay of weight matrices");
  }
  template <class Require>
  static void rules(const AdamW& o, Require&& require) {
    Adam::rules(o, require);
    require(o.weight_decay >= 0 && o.weight_decay < 1, "weight_decay", "must be in [0, 1)");
  }
};

using OptimizerOptions = std::variant<Adam, AdamW>;

/// What every schedule has: a linear warm-up to `peak`.
struct Warmup {
  double peak = 1e-3;
  int64_t warmup = 0;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("peak", o.peak, "highest learning rate, reached at the end of the warm-up");
    visit("warmup", o.warmup, "steps of linear warm-up");
  }
  template <class Require>
  static void rules(const Warmup& o, Require&& require) {
    require(o.peak > 0 && o.peak <= 100, "peak", "must be above 0 and at most 100");
    require(o.warmup >= 0, "warmup", "must not be negative");
  }
};

/// peak after the warm-up.
struct Constant : Warmup {
  static constexpr std::string_view name = "constant";
};

/// peak sqrt(warmup / step): the paper's schedule, whose peak is (d_model warmup)^-1/2.
struct InverseSquareRoot : Warmup {
  static constexpr std::string_view name = "inverse_square_root";
};

/// Members of the schedules that end at `floor` on the last step.
struct Decay : Warmup {
  double floor = 0.0;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    Warmup::fields(o, visit);
    visit("floor", o.floor, "learning rate at the last step");
  }
  template <class Require>
  static void rules(const Decay& o, Require&& require) {
    Warmup::rules(o, require);
    require(o.floor >= 0 && o.floor <= o.peak, "floor", "must be from 0 to peak");
  }
};

struct Cosine : Decay {
  static constexpr std::string_view name = "cosine";
};

struct Linear : Decay {
  static constexpr std::string_view name = "linear";
};

using ScheduleOptions = std::variant<Constant, InverseSquareRoot, Cosine, Linear>;

/// Files of word vectors that embeddings start from.
struct VectorOptions {
  std::optional<std::string> source, target;
  bool frozen = false;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("source", o.source, "file in word2vec's or GloVe's format, for the source embedding");
    visit("target", o.target, "the same for the target embedding");
    visit("frozen", o.frozen, "never train an embedding that starts from a file");
  }
  template <class Require>
  static void rules(const VectorOptions& o, Require&& require) {
    require(!o.frozen || o.source || o.target, "frozen", "needs source or target");
  }
};

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
  StartOptions start;
  VectorOptions vectors;

  template <class Self, class Visit>
  static void fields(Self& o, Visit&& visit) {
    visit("steps", o.steps, "optimizer updates, where budget does not give their number");
    visit("budget", o.budget, "what a run may take: steps, tokens, flops or seconds");
    visit("tokens_per_batch", o.tokens_per_batch,
          "most target tokens, padding included, of a batch");
    visit("accumulate", o.accumulate, "batches per update");
    visit("optimizer", o.optimizer, "adam or adamw");
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
    visit("start", o.start, "another run to start from");
    visit("vectors", o.vectors, "word vectors that embeddings start from");
  }
  template <class Require>
  static void rules(const TrainingOptions& o, Require&& require) {
    require(o.steps >= (o.start.given() ? 0 : 1), "steps",
            o.start.given() ? "must not be negative" : "must be positive");
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

}  // namespace ablate::training
