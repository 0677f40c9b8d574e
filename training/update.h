#pragma once

#include <functional>
#include <span>
#include <vector>

#include "data/batch.h"
#include "models/transformer.h"
#include "models/transformer_flops.h"
#include "training/graphs/pass_graphs.h"
#include "training/observation.h"
#include "training/optimizer.h"
#include "training/pass.h"
#include "training/ranks/rank_group.h"
#include "training/training_options.h"

namespace ablate::training {

/// The outcome of one update. Losses are means over the update's target tokens, in nats.
struct StepRecord {
  double loss = 0;                      // label-smoothed
  double nll = 0;                       // -log p(target)
  double gradient_norm = 0;             // before clipping
  int64_t tokens = 0;                   // target tokens, padding left out
  bool skipped = false;                 // no weight changed: the loss or the norm was not finite
  std::vector<MixtureRecord> mixtures;  // if requested
  bool stop = false;                    // a rank was asked to stop
};

/// The parts of an update, in order; the first three for each of its batches.
enum class UpdatePart { data, forward, backward, optimizer };

struct UpdateOptions {
  double learning_rate;
  LossTerms loss;
  ClipOptions clips = {};
  double dropout;
  uint64_t dropout_seed;  // of this update
  Precision precision;
  int64_t ahead = 0;       // further heads that are trained
  bool curvature = false;  // whether the optimizer learns it first
  bool mixtures = false;   // whether to report on them, which waits for the device again
  const RankGroup& ranks = RankGroup::alone();
  PassGraphs* graphs = nullptr;  // null: every operator is launched by itself
  /// Called after each part, without waiting for the device.
  std::function<void(UpdatePart)> finished = [](UpdatePart) {};
};

/// The options of update `step`, of which the first is 1, in a training of this model. The
/// caller adds the seed, the graphs and the callbacks.
UpdateOptions update_options(const TrainingOptions& options,
                             const models::TransformerOptions& model, int64_t step,
                             const RankGroup& ranks = RankGroup::alone());

/// Forward, backward, clip and step with the gradient of the mean loss per target token of all
/// `batches` together, independent of their split. Ranks share the batches, and their number must
/// divide that of the batches; gradients are added in the order of a binary tree over all batches,
/// so that an update is the same, bit for bit, for any number of ranks. `batches` are all of them
/// on every rank. An update whose loss or gradient norm is not finite changes no parameter and
/// reports it. The update waits for the device once, to read the losses and the norm of the
/// gradient; batches are copied without waiting. ops::expert_feed_forward may wait in addition, and
/// so does the pass before all others by which the optimizer learns the curvature.
StepRecord update(models::Transformer& model, Optimizer& optimizer,
                  std::span<const data::Batch> batches, const UpdateOptions& options);

/// The positions that a pass over `batch` computes.
models::PassExtent extent_of(const data::Batch& batch);

/// Norm of the gradient that an update of `batch` alone would have, before clipping. Weights and
/// buffers do not change. REQUIRES: one rank, and no gradients; it leaves none.
double gradient_norm(models::Transformer& model, const data::Batch& batch,
                     const UpdateOptions& options);

}  // namespace ablate::training
