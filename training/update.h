#pragma once

#include <span>
#include <vector>

#include "data/batch.h"
#include "models/transformer.h"
#include "training/loss.h"
#include "training/mixture_record.h"
#include "training/optimizer.h"

namespace ablate::training {

/// A batch as tensors on the model's device. // source [B, S], target_in and target_out [B, T]
struct BatchTensors {
  torch::Tensor source, target_in, target_out;
};

BatchTensors to_tensors(const data::Batch& batch, torch::Device device);

/// What one update did. Losses are means over the update's real target tokens, in nats.
struct StepRecord {
  double loss = 0;                      // label-smoothed
  double negative = 0;                  // -log p(target)
  double gradient_norm = 0;             // before clipping
  int64_t tokens = 0;                   // real target tokens
  bool skipped = false;                 // weights left alone: the loss or the norm was not finite
  std::vector<MixtureRecord> mixtures;  // where asked for
};

/// Seconds spent in the parts of updates, added up; the device is not waited for.
struct StepTimes {
  double data = 0, forward = 0, backward = 0, optimizer = 0;
};

struct UpdateOptions {
  double learning_rate;
  double label_smoothing;
  double clip;  // largest gradient norm; 0: none
  double dropout;
  uint64_t dropout_seed;  // of this update
  bool bfloat16;
  bool mixtures = false;       // whether to report on them, which reads back from the device again
  StepTimes* times = nullptr;  // measured where wanted
};

/// Forward, backward, clip and step with the gradient of the mean loss per real target token of all
/// `batches` together, however they are split. An update whose loss or gradient norm is not finite
/// changes nothing and says so. Reads back from the device once.
StepRecord update(models::Transformer& model, Optimizer& optimizer,
                  std::span<const data::Batch> batches, const UpdateOptions& options);

}  // namespace ablate::training
