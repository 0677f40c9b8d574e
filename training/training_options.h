#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "options/bounds.h"
#include "options/enumeration.h"
#include "training/init_from_options.h"
#include "training/lora_options.h"
#include "training/observe_options.h"
#include "training/optimizer_options.h"
#include "training/update_stages.h"

namespace ablate::training {

// Every budget states
//   reads_steps  whether training.steps is the number of updates
//   is_timed     whether the number of updates depends on the speed of the machine

struct StepBudget {
  static constexpr std::string_view name = "steps";
  static constexpr std::string_view about = "as many updates as training.steps says";
  static constexpr bool reads_steps = true, is_timed = false;

  bool operator==(const StepBudget&) const = default;
  static void fields(auto&, auto&&) {}
};

/// By the mean over an epoch's first batches and by what each update of the run has of them.
struct TokenBudget {
  static constexpr std::string_view name = "tokens";
  static constexpr std::string_view about = "as many updates as fit into a number of target tokens";
  static constexpr bool reads_steps = false, is_timed = false;
  int64_t tokens = 1'000'000;

  bool operator==(const TokenBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("tokens", o.tokens, "target tokens to train on, the end marks included",
          options::at_least(1));
  }
};

struct FlopBudget {
  static constexpr std::string_view name = "flops";
  static constexpr std::string_view about =
      "as many updates as fit into a number of floating-point operations, three times those of a "
      "forward pass";
  static constexpr bool reads_steps = false, is_timed = false;
  double flops = 1e15;

  bool operator==(const FlopBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("flops", o.flops, "floating-point operations of training, counting only matrix products",
          options::above(0));
  }
};

/// Their number depends on the machine and its load and is then recorded; everything after that is
/// repeatable.
struct TimeBudget {
  static constexpr std::string_view name = "seconds";
  static constexpr std::string_view about =
      "as many updates as fit into a time, by a few that are timed before the first one";
  static constexpr bool reads_steps = false, is_timed = true;
  double seconds = 600;

  bool operator==(const TimeBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("seconds", o.seconds,
          "time for updates, in seconds; a run's first start derives their number by timing a few, "
          "so repeating the run gives another number",
          options::above(0, 1e8));
  }
};

struct RatioBudget {
  static constexpr std::string_view name = "tokens_per_parameter";
  static constexpr std::string_view about =
      "as many updates as fit into a number of target tokens for each parameter of the model";
  static constexpr bool reads_steps = false, is_timed = false;
  double ratio = 20;

  bool operator==(const RatioBudget&) const = default;
  static void fields(auto& o, auto&& visit) {
    visit("ratio", o.ratio,
          "target tokens for each parameter of the model, embeddings included, shared ones once",
          options::above(0));
  }
};

/// How long a run trains. In every unit, the number of updates is fixed before the first one, since
/// schedules end with the last.
using BudgetOptions = std::variant<StepBudget, TokenBudget, RatioBudget, FlopBudget, TimeBudget>;

constexpr bool reads_steps(const BudgetOptions& budget) {
  return std::visit([]<class Held>(const Held&) { return Held::reads_steps; }, budget);
}
constexpr bool is_timed(const BudgetOptions& budget) {
  return std::visit([]<class Held>(const Held&) { return Held::is_timed; }, budget);
}

/// How matrix products are computed; weights are float numbers in any case.
ABLATE_ENUM(Precision, fp32, bf16, tf32);

/// Whether passes on CUDA are launched as graphs, where they can be.
enum class Graphs { automatic, off };

constexpr auto names(Graphs) {
  return std::to_array<std::pair<Graphs, std::string_view>>(
      {{Graphs::automatic, "auto"}, {Graphs::off, "off"}});
}

enum class Device { automatic, cpu, cuda };

constexpr auto names(Device) {
  return std::to_array<std::pair<Device, std::string_view>>(
      {{Device::automatic, "auto"}, {Device::cpu, "cpu"}, {Device::cuda, "cuda"}});
}

/// Whether a loss or gradient norm that is not finite stops the run or skips the update.
ABLATE_ENUM(NotFinite, stop, skip);

/// Files of pretrained word vectors that embeddings start from.
struct PretrainedEmbeddingOptions {
  std::optional<std::string> source, target;

  bool given() const { return source || target; }

  static void fields(auto& o, auto&& visit) {
    visit("source", o.source, "file in word2vec's or GloVe's format, for the source embedding");
    visit("target", o.target, "the same for the target embedding");
  }
};

/// What the loss of a token is made of.
struct LossTerms {
  double smoothing = 0;  // of labels
  double z = 0;          // factor of the z-loss
  double ahead = 1;      // factor of the losses of further heads
  bool drawn = false;    // of targets that the model draws, without the losses of routers
};

/// Why a key below `training` does not fit the run's model.
struct TrainingProblem {
  std::string key, why;
};

struct TrainingOptions {
  int64_t steps = 1000;
  BudgetOptions budget;
  int64_t tokens_per_batch = 4096;
  int64_t accumulate = 1;
  BatchWarmup batch_warmup;
  LengthWarmup length_warmup;
  OptimizerOptions optimizer = Adam{};
  LrMultipliers lr_multipliers;
  ScheduleOptions schedule = InverseSquareRoot{{.peak = 1e-3, .warmup = 400}};
  double label_smoothing = 0.1;
  double z_loss = 0.0;
  AheadOptions ahead;
  ClipOptions clips;
  Precision precision = Precision::fp32;
  Device device = Device::automatic;
  Graphs graphs = Graphs::automatic;
  int64_t stream = 0;
  std::optional<int64_t> threads;
  bool mkl_fast_path = true;
  int64_t max_length = 256;
  std::optional<int64_t> log_every;
  int64_t evaluate_every = 0;
  int64_t patience = 0;
  int64_t save_every = 500;
  int64_t keep = 2;
  int64_t average = 0;
  double ema = 0.0;
  NotFinite not_finite = NotFinite::stop;
  ObserveOptions observe;
  InitFromOptions init_from;
  PretrainedEmbeddingOptions pretrained_embeddings;
  std::vector<std::string> freeze;
  LoraOptions lora;

  /// Whether there are updates; without any, the weights that a run starts from are evaluated.
  bool trains() const { return steps > 0; }

  LossTerms loss() const {
    return {.smoothing = label_smoothing, .z = z_loss, .ahead = ahead.weight};
  }

  /// Calls `visit` with every stage of its updates that is given, in the order in which they act.
  template <class Visit>
  void given_stages(Visit&& visit) const {
    const auto each = [&](const auto&... stage) { ((stage.given() ? visit(stage) : void()), ...); };
    each(batch_warmup, length_warmup, ahead, clips.norm, clips.scores);
  }

  /// Whether only some weights are trained, which the options name.
  bool names_parts() const { return trains() && (!freeze.empty() || lora.given()); }

  /// Whether a line is logged after the step, if the run has `steps` in all.
  bool logs(int64_t step) const {
    const int64_t every = log_every.value_or(std::clamp<int64_t>(steps / 100, 1, 50));
    return step == steps || step % every == 0;
  }

  static void checkpoint_fields(auto& o, auto& visit) {
    visit("evaluate_every", o.evaluate_every, "steps between validations; 0: only at the end",
          options::at_least(0));
    visit("patience", o.patience,
          "validations without a better loss before stopping, of which the best weights are then "
          "evaluated; 0: never",
          options::at_least(0));
    visit("save_every", o.save_every, "steps between checkpoints", options::at_least(1));
    visit("keep", o.keep,
          "newest checkpoints of save_every to keep, besides the last and the best checkpoint",
          options::at_least(1));
    visit("average", o.average,
          "average this many of the last checkpoints of save_every for every validation and for "
          "the evaluation; 0: no average");
    visit("ema", o.ema,
          "decay of the exponential moving average of the weights, which is validated and "
          "evaluated in their place; 0: no average",
          options::from_below(0, 1));
  }
  static void loss_fields(auto& o, auto& visit) {
    visit("label_smoothing", o.label_smoothing, "probability that is spread over the vocabulary",
          options::from_below(0, 1));
    visit("z_loss", o.z_loss,
          "factor of the squared logarithm of the softmax's denominator, which is added to the "
          "loss of every target token (PaLM: 1e-4)",
          options::from(0, 1));
    visit("ahead", o.ahead, "training of the further heads of model.output.ahead");
    visit("max_grad_norm", o.clips.norm.most,
          "gradients are clipped to this global norm; 0: no clipping", options::at_least(0));
    visit("qk_clip", o.clips.scores.most,
          "bound of the scores of self-attention: after an update in which a head gave a larger "
          "score, its queries and keys are multiplied by the factor that would have kept it at the "
          "bound (QK-Clip; Kimi K2: 100); 0: none",
          options::at_least(0));
  }
  static void machine_fields(auto& o, auto& visit) {
    visit("precision", o.precision,
          "precision of matrix products: fp32, or bf16 or (on a GPU) tf32 if the device has it");
    visit("device", o.device, "auto (cuda if available), cpu or cuda");
    visit("graphs", o.graphs,
          "auto: on a CUDA device the passes over batches of one size are recorded once as a CUDA "
          "graph and then launched as a whole, if the model allows it; off: every operator is "
          "launched by itself");
    visit("stream", o.stream,
          "number of the random numbers that all of the training draws from its seed, such as "
          "initial values, order and dropout: in a seed, arms with the same number share them",
          options::from(0, 1000));
    visit("threads", o.threads,
          "CPU threads; absent: the cores divided by the runs of the study, at least one",
          options::from(1, 1024));
    visit("mkl_fast_path", o.mkl_fast_path,
          "on an AMD processor, let MKL choose its code by instruction set, not by maker");
  }
  static void fields(auto& o, auto&& visit) {
    visit("steps", o.steps,
          "optimizer updates, unless budget gives their number; 0: no training, for any budget: "
          "the weights of init_from are only evaluated");
    visit("budget", o.budget, "limit of a run: steps, tokens, flops or seconds");
    visit("tokens_per_batch", o.tokens_per_batch,
          "maximum number of target tokens in a batch, padding included",
          options::from(1, 100'000'000));
    visit("accumulate", o.accumulate, "batches per update (gradient_accumulation_steps)",
          options::from(1, 1'000'000));
    visit("batch_warmup", o.batch_warmup.share,
          "share of the updates, at the beginning, in which the batches of an update rise evenly "
          "from 1 to accumulate",
          options::from(0, 1));
    visit("length_warmup", o.length_warmup, "short rows at the beginning of training");
    visit("optimizer", o.optimizer, "how gradients move the weights");
    visit("lr_multipliers", o.lr_multipliers, "learning-rate multiplier per parameter group");
    visit("schedule", o.schedule, "learning rate as a function of the step");
    loss_fields(o, visit);
    machine_fields(o, visit);
    visit("max_length", o.max_length,
          "tokens kept of a source or a target in training, with its end mark, and of a prompt; "
          "scored and translated texts are not cut",
          options::from(2, 65'536));
    visit("log_every", o.log_every,
          "steps between lines of metrics.jsonl; absent: a hundredth of the steps, at most 50",
          options::at_least(1));
    checkpoint_fields(o, visit);
    visit("not_finite", o.not_finite,
          "if a loss or gradient is not finite: stop the run or skip the update");
    visit("observe", o.observe, "quantities measured in the model, layer by layer");
    visit("init_from", o.init_from, "another run to start from");
    visit("pretrained_embeddings", o.pretrained_embeddings,
          "word vectors that embeddings start from");
    visit("freeze", o.freeze,
          "weights that are not trained, each given by its name or by whole words of it, with "
          "ranges of layers, counted from 0: embedding, encoder.layers.0-3, feed_forward; ablate "
          "inspect model shows the names");
    visit("lora", o.lora, "low-rank adapters that are trained instead of the model");
  }
  /// The rules for averages of weights.
  static void average_rules(const TrainingOptions& o, auto&& require) {
    require(o.average >= 0 && o.average <= o.keep, "average", "must be from 0 to keep");
    require(!o.trains() || !reads_steps(o.budget) || o.save_every < 1 ||
                o.average <= o.steps / o.save_every,
            "average", "exceeds the checkpoints that steps and save_every give");
    require(o.ema == 0 || o.average == 0, "ema", "and average exclude each other");
    require(o.patience == 0 || o.average == 0 || o.save_every < 1 ||
                o.evaluate_every % o.save_every == 0,
            "patience",
            "needs with average an evaluate_every that is a multiple of save_every: between two "
            "checkpoints the average stays as it is");
    if (averages(o.optimizer)) {
      require(std::holds_alternative<Constant>(o.schedule), "schedule.kind",
              "must be constant with optimizer schedule_free, whose average takes the place of a "
              "decay");
      require(o.ema == 0 && o.average == 0, "optimizer.kind",
              "cannot be schedule_free with ema or average: it averages the weights itself");
      require(!o.clips.scores.given(), "qk_clip",
              "must be 0 with optimizer schedule_free, whose next step would undo it: the weights "
              "that it bounds are made anew from two others");
    }
  }
  static void rules(const TrainingOptions& o, auto&& require) {
    const int64_t fewest = o.init_from.given() ? 0 : 1;
    require(o.steps >= fewest && o.steps <= 1'000'000'000, "steps",
            fewest == 0 ? "must be from 0 to 1000000000" : "must be from 1 to 1000000000");
    require(peak_of(o.schedule) <= 1 || !steps_have_one_size(o.optimizer), "schedule.peak",
            "must be at most 1: with this optimizer a step moves every weight by about as much; "
            "0.001 is usual");
    require(!o.batch_warmup.given() || o.accumulate > 1, "batch_warmup",
            "needs accumulate, the batches of an update behind the warm-up");
    require(!o.length_warmup.given() || !is_timed(o.budget), "length_warmup.share",
            "must be 0 with a budget of seconds, whose updates all take the same time");
    require(!o.batch_warmup.given() || !o.ahead.given() || !is_timed(o.budget), "batch_warmup",
            "must be 0 with a budget of seconds and ahead.curriculum, which together have no mean "
            "time of an update");
    require(!o.clips.scores.given() || (o.freeze.empty() && !o.lora.given()), "qk_clip",
            "changes weights of every attention, so freeze and lora cannot keep any");
    require(o.observe.at.empty() || !o.trains() || !reads_steps(o.budget) ||
                o.observe.at.back() <= o.steps,
            "observe.at", "names a step after the last one, which steps gives");
    require(o.max_length <= o.tokens_per_batch, "max_length", "must not exceed tokens_per_batch");
    require(o.patience == 0 || o.evaluate_every > 0, "patience", "needs evaluate_every");
    require(o.patience == 0 || !o.trains() || !reads_steps(o.budget) || o.evaluate_every <= o.steps,
            "patience", "needs a validation, and steps end before the first of evaluate_every");
    average_rules(o, require);
    require(!o.trains() || !o.init_from.given() || !o.pretrained_embeddings.given(),
            "pretrained_embeddings",
            "would replace the embeddings that the run of init_from has trained; leave one of the "
            "two out (source: null where base has it)");
    require(o.freeze.empty() || !o.lora.given(), "freeze",
            "and lora exclude each other: with adapters only these are trained, and lora.train");
  }
};

}  // namespace ablate::training
