#pragma once

#include "models/transformer.h"
#include "models/weight_dtype.h"

namespace ablate::models {

// B batch, S source length, T target length, V vocabulary

/// How an inference model holds the matrices of its linear maps.
enum class WeightLayout {
  packed,  // a copy of each laid out for the CPU's products, in the dtype asked for
  dense,   // as they were trained
  cast,    // all weights in the dtype asked for, and the activations with them
};

/// The layout for weights of `dtype` on a kind of device.
WeightLayout layout_of(torch::DeviceType device, WeightDtype dtype);

/// A trained model for inference alone: a copy of its weights in a dtype, on its device, which
/// nothing changes afterwards, neither further training of the original nor its own use; copies
/// share it. No method records gradients. All may be called by several threads at once.
class InferenceModel {
 public:
  explicit InferenceModel(const Transformer& trained, WeightDtype dtype = WeightDtype::fp32);

  /// As TransformerImpl::forward. // [B, S], [B, T] -> [B, T, V] or [B, S, V] or [B, 1, V]
  torch::Tensor forward(const torch::Tensor& source, const torch::Tensor& target) const;
  /// As TransformerImpl::score_targets. // [B, S], [B, T], [B, T]
  ops::TargetScores score_targets(const torch::Tensor& source, const torch::Tensor& target_in,
                                  const torch::Tensor& target_out) const;
  /// What decoding keeps of the source, or of the beginning of a decoder-only model's sequence, in
  /// which no row may be padded. // [B, S]
  DecoderCache prefill(const torch::Tensor& source) const;
  /// Logits behind one more token of every row. // [B] -> [B, V]
  torch::Tensor step(const torch::Tensor& last, DecoderCache& cache) const;

  Family family() const { return network_->family(); }
  /// Whether the output is the label of a whole sequence.
  bool labels() const { return network_->labels(); }
  /// What the model was made from.
  const TransformerOptions& options() const { return network_->options(); }
  torch::Device device() const { return network_->output_weight().device(); }

 private:
  Transformer network_;
};

/// Casts the floating weights of a model or of a part of it, except those of routers, whose
/// rounding would change which experts are chosen.
void cast_weights(torch::nn::Module& module, torch::ScalarType dtype);

}  // namespace ablate::models
