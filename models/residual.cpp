#include "models/residual.h"

#include "models/ops/add_norm.h"

namespace ablate::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

}  // namespace

NormImpl::NormImpl(const NormOptions& options, int64_t width, bool with_bias)
    : weight(register_parameter("weight", {width}, Constant{1}, Role::vector)),
      kind_(options.kind) {
  if (with_bias && kind_ != NormKind::rms)
    bias = register_parameter("bias", {width}, Constant{0}, Role::vector);
  if (kind_ == NormKind::tanh)
    alpha = register_parameter("alpha", {1}, Constant{options.alpha}, Role::vector);
  if (kind_ != NormKind::batch) return;
  running_mean_ = register_buffer("running_mean", torch::zeros({width}));
  running_variance_ = register_buffer("running_variance", torch::ones({width}));
}

torch::Tensor NormImpl::forward(const torch::Tensor& x, const ForwardContext& context) {
  const auto type = x.scalar_type();
  if (kind_ == NormKind::batch) return batch_norm(x, context);
  if (kind_ == NormKind::tanh) {
    const auto y = (x * alpha.to(type)).tanh() * weight.to(type);
    return bias.defined() ? y + bias.to(type) : y;
  }
  if (kind_ == NormKind::rms) return at::rms_norm(x, {weight.size(0)}, weight.to(type), kEpsilon);
  return torch::layer_norm(x, {weight.size(0)}, weight.to(type),
                           bias.defined() ? bias.to(type) : bias, kEpsilon);
}

torch::Tensor NormImpl::batch_norm(const torch::Tensor& x, const ForwardContext& context) {
  const auto wide = x.to(weight.scalar_type());  // [B, T, D]
  auto mean = running_mean_, variance = running_variance_;
  if (context.training) {
    const auto mask = context.padding_mask.defined()
                          ? context.padding_mask
                          : torch::ones_like(x.select(-1, 0), torch::kBool);
    const auto share = mask.unsqueeze(-1).to(wide.scalar_type()) / mask.sum();  // [B, T, 1]
    mean = (wide * share).sum({0, 1});
    variance = ((wide - mean).square() * share).sum({0, 1});
    torch::NoGradGuard no_grad;
    running_mean_.lerp_(mean.detach(), kMomentum);
    running_variance_.lerp_(variance.detach(), kMomentum);
  }
  const auto normal = (wide - mean) * (variance + kEpsilon).rsqrt() * weight;
  return (bias.defined() ? normal + bias : normal).to(x.scalar_type());
}

torch::Tensor NormImpl::add_norm(const torch::Tensor& x, const torch::Tensor& branch,
                                 const Dropout& dropout, const ForwardContext& context) {
  if (kind_ == NormKind::layer)
    return ops::add_norm(x, branch, {.weight = weight, .bias = bias, .epsilon = kEpsilon},
                         dropout->stream(context));
  return forward(ops::add_dropout(x, branch, dropout->stream(context)), context);
}

namespace {

Norm make_norm(Module& owner, const std::string& name, const StackOptions& options) {
  if (options.norm.kind == NormKind::none) return nullptr;
  return owner.register_module(name, Norm(options.norm, options.d_model, options.bias));
}

}  // namespace

ResidualConnection::ResidualConnection(Module& owner, const std::string& name,
                                       const StackOptions& options)
    : skip_(options.residual), dropout_(owner.register_module(name + "_dropout", Dropout())) {
  const auto placement = options.norm.placement;
  auto norm = make_norm(owner, name + "_norm", options);
  (placement == NormPlacement::post ? after_ : before_) = norm;
  if (placement == NormPlacement::both)
    on_output_ = make_norm(owner, name + "_output_norm", options);
  if (skip_ == Skip::learned)
    factor_ = owner.register_parameter(name + "_factor", {1}, Constant{1}, Role::vector);
}

torch::Tensor ResidualConnection::join(const torch::Tensor& x, torch::Tensor branch,
                                       const ForwardContext& context) {
  if (on_output_) branch = on_output_(branch, context);
  if (factor_.defined()) branch = branch * factor_.to(branch.scalar_type());
  if (skip_ != Skip::off && after_) return after_->add_norm(x, branch, dropout_, context);
  const auto sum = skip_ == Skip::off ? dropout_(branch, context)
                                      : ops::add_dropout(x, branch, dropout_->stream(context));
  return after_ ? after_(sum, context) : sum;
}

Norm make_final_norm(Module& owner, const StackOptions& options) {
  if (options.norm.placement == NormPlacement::post) return nullptr;
  return make_norm(owner, "norm", options);
}

}  // namespace ablate::models
