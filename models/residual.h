#pragma once

#include <optional>
#include <string>

#include "models/forward_context.h"
#include "models/module.h"
#include "models/options/transformer_options.h"

namespace ablate::models {

/// Dropout at one place of a model. Its mask is a function of the pass's seed and of the module's
/// name, so that models share the masks of the modules they share.
class DropoutImpl : public Module {
 public:
  /// Without a rate of its own it has that of the pass.
  explicit DropoutImpl(std::optional<double> rate = {}) : rate_(rate) {}

  ops::DropoutStream stream(const ForwardContext& context) const {
    return context.dropout_at(site(), rate_);
  }
  torch::Tensor forward(const torch::Tensor& x, const ForwardContext& context) const {
    return ops::dropout(x, stream(context));  // [..., D] -> [..., D]
  }

 private:
  std::optional<double> rate_;
};
TORCH_MODULE(Dropout);

/// Normalisation of every position: over the last dimension, as layer (Ba et al. 2016) or rms
/// (Zhang & Sennrich 2019), or of every feature over the unpadded positions of the batch (Ioffe &
/// Szegedy 2015), which evaluation and a frozen norm replace by the running means (momentum 0.1)
/// of training. Batch statistics of a decoder see later positions. tanh is DyT (Zhu et al. 2025),
/// which replaces the norm by weight * tanh(alpha x) + bias with a learnable alpha.
class NormImpl : public Module {
 public:
  /// REQUIRES: options.kind is not none.
  NormImpl(const NormOptions& options, int64_t width, bool with_bias);

  torch::Tensor forward(const torch::Tensor& x,
                        const ForwardContext& context = {}) const;  // [..., D] -> [..., D]
  /// forward(x + dropout(branch)), in one pass over memory if a CPU kernel can run.
  torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch,
                         const Dropout& dropout, const ForwardContext& context) const;

  torch::Tensor weight;  // [D]
  torch::Tensor bias;    // [D] or undefined
  torch::Tensor alpha;   // [1] or undefined

 private:
  torch::Tensor batch_norm(const torch::Tensor& x, const ForwardContext& context) const;

  NormKind kind_;
  double epsilon_;
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
/// f's output or x; without a skip x is left out of the sum.
class ResidualConnection {
 public:
  /// Registers its norms, factor and dropouts with `owner`, as `<name>_norm` and so on.
  ResidualConnection(Module& owner, const std::string& name, const NormOptions& norm,
                     const ResidualPlace& place);

  /// The input of the sub-layer. // [B, T, D] -> [B, T, D]
  torch::Tensor enter(const torch::Tensor& x, const ForwardContext& context) {
    if (!before_) return x;
    const auto y = before_(x, context);
    return norm_scale_ == 1 ? y : y * norm_scale_;
  }
  /// Adds the sub-layer's output to x. // [B, T, D], [B, T, D] -> [B, T, D]
  torch::Tensor join(const torch::Tensor& x, torch::Tensor branch, const ForwardContext& context);

 private:
  torch::Tensor scaled(torch::Tensor branch, const ForwardContext& context) const;

  bool skip_ = true;
  double norm_scale_ = 1, input_scale_ = 1, output_scale_ = 1, drop_ = 0;
  Dropout dropout_, whole_{nullptr};  // of elements, and of a sequence's whole output
  Norm before_{nullptr}, on_output_{nullptr}, after_{nullptr};
  torch::Tensor factor_;  // [1] or [D]
};

/// A norm inside a sub-layer, without a bias and with the epsilon of the first layer's norm.
Norm make_inner_norm(NormKind kind, int64_t width, const StackOptions& stack);

/// The norm of a stack's sums of embeddings; null: there is none.
Norm make_embedding_norm(Module& owner, const StackOptions& stack);

/// A norm of the last layer's kind behind a stack.
Norm make_output_norm(Module& owner, const StackOptions& stack);

/// The norm at the end of a stack whose last sum is not normalised, of its last layer's kind; null:
/// none is needed.
Norm make_final_norm(Module& owner, const StackOptions& stack);

}  // namespace ablate::models
