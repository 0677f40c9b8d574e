#pragma once

#include <memory>
#include <vector>

#include "models/module.h"
#include "models/options/stack_options.h"

namespace ablate::models {

/// The state of the residual stream between the layers of a pass.
struct MixedStream {
  std::vector<torch::Tensor> kept = {};    // of earlier layers, the embeddings first // [B, T, D]
  torch::Tensor streams = {};              // [B, T, N, D]
  torch::Tensor mixing = {}, adding = {};  // of the layer that runs // [B, T, N, N], [B, T, N, 1]
};

/// How the layers of a stack read and write the residual stream, if not by adding to what they
/// read. Nothing depends on other positions.
class ResidualMix : public Module {
 public:
  virtual MixedStream start(const torch::Tensor& embedding) const = 0;  // [B, T, D]
  /// The input of the layer at this depth, or after the last layer the stack's output. // [B, T, D]
  virtual torch::Tensor read(MixedStream& stream, int64_t depth) const = 0;
  /// Adds the output that the layer computed from its input. // [B, T, D], [B, T, D]
  virtual void write(MixedStream& stream, const torch::Tensor& input,
                     const torch::Tensor& output) const = 0;
};

/// Null: layers add to what they read.
std::shared_ptr<ResidualMix> make_residual_mix(const StackOptions& stack);

}  // namespace ablate::models
