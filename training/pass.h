#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "data/batch.h"
#include "models/ops/weight_casts.h"
#include "models/transformer.h"
#include "training/training_options.h"

namespace ablate::training {

/// A batch as tensors on the model's device. // source [B, S], target_in and target_out [B, T]
struct BatchTensors {
  torch::Tensor source, target_in, target_out;
  torch::Tensor tokens;  // target tokens, padding left out // []
};

/// A batch's numbers in one tensor of the host, pinned for a GPU. // [N]
torch::Tensor packed(const data::Batch& batch, torch::Device device);
/// Views of such a tensor on any device, for a batch of the same sizes. // [N]
BatchTensors unpacked(const torch::Tensor& numbers, const data::Batch& batch);

/// Copies a batch to `device`, to a GPU by way of pinned memory and without waiting for it.
BatchTensors to_tensors(const data::Batch& batch, torch::Device device);

/// The parameters that are trained, so that they get gradients.
std::vector<torch::Tensor> trained_parameters(const models::TransformerImpl& model);

/// Restores a model's buffers, such as running means.
class KeptBuffers {
 public:
  explicit KeptBuffers(const models::TransformerImpl& model) : buffers_(model.buffers()) {
    for (const auto& buffer : buffers_) values_.push_back(buffer.clone());
  }
  ~KeptBuffers() {
    const torch::NoGradGuard no_grad;
    for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(values_[i]);
  }
  /// Lets them stay as they are then.
  void release() { buffers_.clear(); }
  KeptBuffers(const KeptBuffers&) = delete;
  KeptBuffers& operator=(const KeptBuffers&) = delete;

 private:
  std::vector<torch::Tensor> buffers_, values_;
};

/// The weights in the element type in which passes on a GPU read them, for any number of passes
/// while the weights stay as they are. Null if each operation casts its own weights.
std::unique_ptr<models::ops::WeightCasts> cast_weights(const models::TransformerImpl& model,
                                                       const models::ForwardContext& context);

struct PassInput {
  BatchTensors batch;
  torch::Tensor share;  // the weight of a target token in the gradient, in the weights' type // []
  models::ops::WeightCasts* casts;  // cast_weights()
};

struct PassOutput {
  torch::Tensor loss, nll;  // sums over target tokens, in nats, without a gradient // []
  std::vector<models::RoutingStatistics> mixtures;
};

/// Forward and backward pass: adds `share` times the gradient of the loss to the parameters'.
/// `forward_done` is called between the two. Nothing depends on numbers of the host but
/// `loss`, `context` and the sizes of the tensors.
PassOutput forward_backward(models::TransformerImpl& model, const PassInput& input,
                            const models::ForwardContext& context, const LossTerms& loss,
                            const std::function<void()>& forward_done);

}  // namespace ablate::training
