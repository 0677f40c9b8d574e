#pragma once

#include <cstdint>

#include "experiments/records/result.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/prepare_run.h"
#include "training/trainer.h"

namespace ablate::run {

/// The results of a training besides its checkpoints.
struct TrainingOutcome {
  training::TrainingSummary summary = {};
  int64_t memory_bytes = 0;
  int64_t trained_parameters = 0;
};

/// Scores the weights that the run's configuration chooses, and writes the outputs of every test
/// set. Throws CheckpointError if a weight is not finite.
records::RunResult evaluate_run(const RunJob& job, Prepared& prepared, models::Transformer& model);

/// Adds to the result of a run the facts of its training, its data and its machine.
void add_training(records::RunResult& result, const TrainingOutcome& trained, const RunJob& job,
                  const Prepared& prepared);

/// Writes the final scores for TensorBoard, then result.json.
void write_scores(const RunJob& job, records::RunResult result);

}  // namespace ablate::run
