#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "data/batch.h"
#include "data/batch_stream.h"
#include "models/transformer.h"
#include "options/members.h"
#include "training/checkpoint/checkpoint.h"
#include "training/likelihood.h"
#include "training/observation.h"
#include "training/optimizer.h"
#include "training/process/progress.h"
#include "training/storage/errors.h"
#include "training/storage/run_log.h"
#include "training/tensorboard/event.h"
#include "training/training_options.h"
#include "training/update.h"
#include "training/weights.h"

namespace ablate::training {

/// The state of a training between two updates, as in a checkpoint's state.json.
struct TrainingState {
  int64_t step = 0;
  int64_t epoch = 0, batch = 0;  // of the next batch, as data::StreamPosition
  int64_t tokens = 0;            // target tokens trained on, padding left out
  double flops = 0;              // of all updates, skipped ones included
  double seconds = 0;            // spent on updates, without validation, observation and saving
  int64_t skipped = 0;           // updates skipped because they were not finite
  double interval_loss = 0;      // sums over the updates since the last log line
  double interval_nll = 0;
  int64_t interval_tokens = 0;
  int64_t best_step = 0;  // of the best validation; 0: none yet
  double best_nll = 0;
  int64_t validations_since_best = 0;
  bool stopped_early = false;
  uint64_t log_bytes = 0;
  std::string log_sha256;

  ABLATE_FIELDS(step, epoch, batch, tokens, flops, seconds, skipped, interval_loss, interval_nll,
                interval_tokens, best_step, best_nll, validations_since_best, stopped_early,
                log_bytes, log_sha256)
};

struct TrainerInput {
  TrainingOptions options;
  double dropout = 0;
  uint64_t seed = 0;
  Precision precision = Precision::fp32;  // as the device computes
  std::span<const data::EncodedExample> train, validation;
  data::Augmentation augmentation = {};
  std::filesystem::path folder;              // of TensorBoard's events
  std::filesystem::path log;                 // a file of JSON lines
  std::filesystem::path checkpoints;         // their folder
  std::map<std::string, std::string> files;  // copied into every checkpoint: name -> bytes
  Session session = {};                      // the run's entry on TensorBoard's hparams page
  /// Called before every write into these folders; throws if this process no longer owns them.
  std::function<void()> check_owner = [] {};
  const RankGroup& ranks = RankGroup::alone();  // only the first one writes
};

/// Observations of `model` on the first validation examples; empty without any.
std::vector<Observation> observe_validation(models::Transformer& model, const TrainerInput& input);

/// The results of a finished training besides its checkpoints.
struct TrainingSummary {
  TrainingState state;
  double train_loss = 0;  // of the last log line
};

/// Trains `model` to the last step, from the newest checkpoint that verifies or from the beginning.
/// Ended at any moment and started again, also with another number of ranks, it gives the same
/// weights, optimizer and log, bit for bit but for the seconds. Throws Interrupted (after saving)
/// when a stop is requested, Diverged, OutOfMemory, CheckpointError, RankLost and IoError.
class Trainer {
 public:
  Trainer(models::Transformer model, TrainerInput input, Progress::Options progress);

  TrainingSummary run();

 private:
  bool resume();
  /// The batches of update `step`, as its stages cut them.
  std::vector<data::Batch> next_batches(data::BatchStream& stream, int64_t step) const;
  void train_step(data::BatchStream& stream);
  StepRecord update_on(const std::vector<data::Batch>& batches, const UpdateOptions& options);
  void log_step(const StepRecord& record, double rate);
  void log_interval(const StepRecord& record, double rate);
  void write(const nlohmann::json& line);
  void write_with_costs(nlohmann::json line);
  void log_mixture(const MixtureRecord& mixture);
  bool observes(int64_t step) const;
  void log_observations(const std::vector<Observation>& observations);
  void observe_model();
  Weights averaged_weights() const;
  Likelihood validation();
  void validate();
  void save();
  void prune() const;
  bool finished() const;
  bool stops() const;

  models::Transformer model_;
  TrainerInput input_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<PassGraphs> graphs_;  // null: none
  models::PassFlops flops_;
  std::optional<Ema> ema_;
  TrainingState state_;
  std::optional<RunLog> log_;
  std::optional<EventFile> events_;  // the same numbers as the log
  std::set<std::string> warned_;     // mixtures and graphs whose fault has been reported
  Progress progress_;
  double earlier_seconds_ = 0;  // up to the checkpoint that this process continues
  int64_t saved_step_ = -1;
  double train_loss_ = 0;
  bool asked_to_stop_ = false;  // whether a rank was, at the last update
};

}  // namespace ablate::training
