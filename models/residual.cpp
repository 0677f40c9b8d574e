#include "models/residual.h"

#include <cmath>

#include "models/ops/backend.h"
#include "models/ops/elementwise.h"
#include "models/ops/weight_casts.h"

namespace ablate::models {
namespace {

constexpr double kMomentum = 0.1;

}  // namespace

NormImpl::NormImpl(const NormOptions& options, int64_t width, bool with_bias)
    : weight(register_parameter("weight", {width}, Constant{1}, Role::vector)),
      kind_(options.kind),
      epsilon_(options.epsilon) {
  if (options.bias.value_or(with_bias) && kind_ != NormKind::rms)
    bias = register_parameter("bias", {width}, Constant{0}, Role::vector);
  if (kind_ == NormKind::tanh)
    alpha = register_parameter("alpha", {1}, Constant{options.alpha}, Role::vector);
  if (kind_ != NormKind::batch) return;
  running_mean_ = register_buffer("running_mean", torch::zeros({width}));
  running_variance_ = register_buffer("running_variance", torch::ones({width}));
}

torch::Tensor NormImpl::forward(const torch::Tensor& x, const ForwardContext& context) const {
  const auto type = x.scalar_type();
  const auto own_bias = bias.defined() ? ops::weight_in(bias, type) : bias;
  switch (kind_) {
    case NormKind::layer:
      return torch::layer_norm(x, {weight.size(0)}, ops::weight_in(weight, type), own_bias,
                               epsilon_);
    case NormKind::rms:
      return at::rms_norm(x, {weight.size(0)}, ops::weight_in(weight, type), epsilon_);
    case NormKind::batch:
      return batch_norm(x, context);
    case NormKind::tanh: {
      const auto y = (x * ops::weight_in(alpha, type)).tanh() * ops::weight_in(weight, type);
      return own_bias.defined() ? y + own_bias : y;
    }
    case NormKind::none:
      return x;
  }
  TORCH_CHECK(false, "invalid NormKind ", static_cast<int>(kind_));
}

torch::Tensor NormImpl::batch_norm(const torch::Tensor& x, const ForwardContext& context) const {
  const auto wide = x.to(weight.scalar_type());  // [B, T, D]
  auto mean = running_mean_, variance = running_variance_;
  if (context.training && ops::is_trained(weight)) {
    const auto mask = context.padding_mask.defined()
                          ? context.padding_mask
                          : torch::ones_like(x.select(-1, 0), torch::kBool);
    const auto share = mask.unsqueeze(-1).to(wide.scalar_type()) / mask.sum();  // [B, T, 1]
    mean = (wide * share).sum(at::IntArrayRef{0, 1});
    variance = ((wide - mean).square() * share).sum(at::IntArrayRef{0, 1});
    torch::NoGradGuard no_grad;
    running_mean_.lerp_(mean.detach(), kMomentum);
    running_variance_.lerp_(variance.detach(), kMomentum);
  }
  const auto normal = (wide - mean) * (variance + epsilon_).rsqrt() * weight;
  return (bias.defined() ? normal + bias : normal).to(x.scalar_type());
}

torch::Tensor NormImpl::add_norm(const torch::Tensor& x, const torch::Tensor& branch,
                                 const Dropout& dropout, const ForwardContext& context) const {
  if (kind_ == NormKind::layer)
    return ops::add_norm(x, branch, {.weight = weight, .bias = bias, .epsilon = epsilon_},
                         dropout->stream(context));
  return forward(ops::add_dropout(x, branch, dropout->stream(context)), context);
}

namespace {

Norm make_norm(Module& owner, const std::string& name, const NormOptions& options,
               const StackOptions& stack) {
  if (options.kind == NormKind::none) return nullptr;
  return owner.register_module(name, Norm(options, stack.d_model, stack.bias));
}

}  // namespace

ResidualConnection::ResidualConnection(Module& owner, const std::string& name,
                                       const NormOptions& norm, const ResidualPlace& place)
    : dropout_(owner.register_module(name + "_dropout", Dropout())) {
  const auto& stack = place.stack;
  const auto& residual = stack.layer(place.layer).residual;
  skip_ = residual.skip;
  drop_ = residual.drop * static_cast<double>(place.layer + 1) /
          static_cast<double>(stack.different_layers());
  (norm.placement == NormPlacement::post ? after_ : before_) =
      make_norm(owner, name + "_norm", norm, stack);
  if (norm.layernorm_scaling) norm_scale_ = 1 / std::sqrt(static_cast<double>(place.layer + 1));
  if (norm.placement == NormPlacement::both)
    on_output_ = make_norm(owner, name + "_output_norm", norm, stack);
  if (residual.drop > 0) whole_ = owner.register_module(name + "_drop", Dropout());
  if (residual.depth == ResidualDepth::deepnorm) input_scale_ = stack.deepnorm.alpha;
  if (residual.depth == ResidualDepth::sqrt)
    output_scale_ = 1 / std::sqrt(static_cast<double>(stack.additions()));
  if (residual.per == FactorPer::none)
    output_scale_ *= residual.start;
  else
    factor_ = owner.register_parameter(name + "_factor",
                                       {residual.per == FactorPer::layer ? 1 : stack.d_model},
                                       Constant{residual.start}, Role::vector);
}

torch::Tensor ResidualConnection::scaled(torch::Tensor branch,
                                         const ForwardContext& context) const {
  if (factor_.defined()) branch = branch * ops::weight_in(factor_, branch.scalar_type());
  if (output_scale_ != 1) branch = branch * output_scale_;
  if (!whole_ || !context.training) return branch;
  const auto all = torch::ones_like(branch.narrow(1, 0, 1).narrow(2, 0, 1));  // [B, 1, 1]
  return branch * ops::dropout(all, {.rate = drop_, .noise = context.noise_at(whole_->site())});
}

torch::Tensor ResidualConnection::join(const torch::Tensor& x, torch::Tensor branch,
                                       const ForwardContext& context) {
  if (on_output_) branch = on_output_(branch, context);
  branch = scaled(std::move(branch), context);
  const auto input = input_scale_ == 1 ? x : x * input_scale_;
  if (skip_ && after_) return after_->add_norm(input, branch, dropout_, context);
  const auto sum = skip_ ? ops::add_dropout(input, branch, dropout_->stream(context))
                         : dropout_(branch, context);
  return after_ ? after_(sum, context) : sum;
}

Norm make_inner_norm(NormKind kind, int64_t width, const StackOptions& stack) {
  return Norm(NormOptions{.kind = kind, .epsilon = stack.layers.front().norm.epsilon}, width,
              /*with_bias=*/false);
}

Norm make_embedding_norm(Module& owner, const StackOptions& stack) {
  if (stack.embedding_norm == EmbeddingNorm::none) return nullptr;
  auto norm = stack.layers.front().norm;
  norm.kind = stack.embedding_norm == EmbeddingNorm::rms ? NormKind::rms : NormKind::layer;
  return make_norm(owner, "embedding_norm", norm, stack);
}

Norm make_output_norm(Module& owner, const StackOptions& stack) {
  return make_norm(owner, "norm", stack.last_layer().norm, stack);
}

Norm make_final_norm(Module& owner, const StackOptions& stack) {
  const bool normalised = stack.last_layer().norm.placement == NormPlacement::post;
  return normalised ? nullptr : make_output_norm(owner, stack);
}

}  // namespace ablate::models
