#pragma once

#include <string>

#include "models/dropout.h"
#include "models/module.h"
#include "models/transformer_options.h"

namespace ablate::models {

/// Normalisation of every position, epsilon 1e-5: over the last dimension, as layer (Ba et al.
/// 2016) or rms (Zhang & Sennrich 2019), or of every feature over the unpadded positions of the
/// batch (Ioffe & Szegedy 2015), which evaluation replaces by running means (momentum 0.1). Batch
/// statistics of a decoder see later positions. What stands in a norm's place as tanh is
/// weight tanh(alpha x) + bias with one trained alpha (Zhu et al. 2025, DyT).
class NormImpl : public Module {
 public:
  /// REQUIRES: a kind other than none.
  NormImpl(const NormOptions& options, int64_t width, bool with_bias);

  torch::Tensor forward(const torch::Tensor& x,
                        const ForwardContext& context);  // [..., D] -> [..., D]
  /// forward(x + dropout(branch)) in one pass over memory where a CPU kernel can run.
  torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch,
                         const Dropout& dropout, const ForwardContext& context);

  torch::Tensor weight;  // [D]
  torch::Tensor bias;    // [D] or undefined
  torch::Tensor alpha;   // [1] or undefined

 private:
  torch::Tensor batch_norm(const torch::Tensor& x, const ForwardContext& context);

  NormKind kind_;
  torch::Tensor running_mean_, running_variance_;  // [D]
};
TORCH_MODULE(Norm);

/// The layer of a stack, counted from 0 on, that a connection belongs to.
struct ResidualPlace {
  const StackOptions& stack;
  int64_t layer;
};

/// A sub-layer f's place in the residual stream: where its input is normalised and how its output
/// joins. post (Vaswani et al. 2017, section 3.1): norm(x + dropout(f(x))); pre: x +
/// dropout(f(norm(x))); both: x + dropout(norm'(f(norm(x)))) (Ding et al. 2021). Factors multiply
/// f's share or x; without a skip x is left out of the sum.
class ResidualConnection {
 public:
  /// Registers its norms, factor and dropouts with `owner`, as `<name>_norm` and so on.
  ResidualConnection(Module& owner, const std::string& name, const NormOptions& norm,
                     const ResidualPlace& place);

  /// What the sub-layer reads. // [B, T, D] -> [B, T, D]
  torch::Tensor enter(const torch::Tensor& x, const ForwardContext& context) {
    return before_ ? before_(x, context) : x;
  }
  /// x with what the sub-layer made of it. // [B, T, D], [B, T, D] -> [B, T, D]
  torch::Tensor join(const torch::Tensor& x, torch::Tensor branch, const ForwardContext& context);

 private:
  torch::Tensor scaled(torch::Tensor branch, const ForwardContext& context) const;

  bool skip_ = true;
  double input_scale_ = 1, output_scale_ = 1, drop_ = 0;
  Dropout dropout_, whole_{nullptr};  // of elements, and of a sequence's whole output
  Norm before_{nullptr}, on_output_{nullptr}, after_{nullptr};
  torch::Tensor factor_;  // [1] or [D]
};

/// The norm at the end of a stack, that of its last layer, whose last sum nothing has normalised;
/// null: none is needed.
Norm make_final_norm(Module& owner, const StackOptions& stack);

}  // namespace ablate::models
