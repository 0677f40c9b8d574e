#include "models/residual.h"

#include "models/ops/add_norm.h"

namespace ablate::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

}  // namespace

NormImpl::NormImpl(NormKind kind, int64_t width, bool with_bias)
    : weight(register_parameter("weight", torch::ones({width}))), kind_(kind) {
  if (with_bias && kind != NormKind::rms) bias = register_parameter("bias", torch::zeros({width}));
  if (kind != NormKind::batch) return;
  running_mean_ = register_buffer("running_mean", torch::zeros({width}));
  running_variance_ = register_buffer("running_variance", torch::ones({width}));
}

torch::Tensor NormImpl::forward(const torch::Tensor& x, const Pass& pass) {
  const auto type = x.scalar_type();
  if (kind_ == NormKind::batch) return batch_norm(x, pass);
  if (kind_ == NormKind::rms) return at::rms_norm(x, {weight.size(0)}, weight.to(type), kEpsilon);
  return torch::layer_norm(x, {weight.size(0)}, weight.to(type),
                           bias.defined() ? bias.to(type) : bias, kEpsilon);
}

torch::Tensor NormImpl::batch_norm(const torch::Tensor& x, const Pass& pass) {
  const auto wide = x.to(weight.scalar_type());  // [B, T, D]
  auto mean = running_mean_, variance = running_variance_;
  if (pass.dropout.trains()) {
    const auto real =
        pass.real.defined() ? pass.real : torch::ones_like(x.select(-1, 0), torch::kBool);
    const auto share = real.unsqueeze(-1).to(wide.scalar_type()) / real.sum();  // [B, T, 1]
    mean = (wide * share).sum({0, 1});
    variance = ((wide - mean).square() * share).sum({0, 1});
    torch::NoGradGuard no_grad;
    running_mean_.lerp_(mean.detach(), kMomentum);
    running_variance_.lerp_(variance.detach(), kMomentum);
  }
  const auto normal = (wide - mean) * (variance + kEpsilon).rsqrt() * weight;
  return (bias.defined() ? normal + bias : normal).to(x.scalar_type());
}

torch::Tensor NormImpl::after_sum(const torch::Tensor& x, const torch::Tensor& branch,
                                  const Pass& pass) {
  if (kind_ == NormKind::layer)
    return ops::add_norm(x, branch, {.weight = weight, .bias = bias, .epsilon = kEpsilon},
                         pass.dropout.next());
  return forward(x + drop(branch, pass.dropout), pass);
}

namespace {

Norm make_norm(torch::nn::Module& owner, const std::string& name, const StackOptions& options) {
  if (options.norm.kind == NormKind::none) return nullptr;
  return owner.register_module(name, Norm(options.norm.kind, options.d_model, options.bias));
}

}  // namespace

Connection::Connection(torch::nn::Module& owner, const std::string& name,
                       const StackOptions& options)
    : skip_(options.residual) {
  const auto placement = options.norm.placement;
  auto norm = make_norm(owner, name + "_norm", options);
  (placement == NormPlacement::post ? after_ : before_) = norm;
  if (placement == NormPlacement::both)
    on_output_ = make_norm(owner, name + "_output_norm", options);
  if (skip_ == Skip::learned)
    factor_ = owner.register_parameter(name + "_factor", torch::ones({1}));
}

torch::Tensor Connection::join(const torch::Tensor& x, torch::Tensor branch, const Pass& pass) {
  if (on_output_) branch = on_output_(branch, pass);
  if (factor_.defined()) branch = branch * factor_.to(branch.scalar_type());
  if (skip_ != Skip::off && after_) return after_->after_sum(x, branch, pass);
  const auto dropped = drop(branch, pass.dropout);
  const auto sum = skip_ == Skip::off ? dropped : x + dropped;
  return after_ ? after_(sum, pass) : sum;
}

Norm make_final_norm(torch::nn::Module& owner, const StackOptions& options) {
  if (options.norm.placement == NormPlacement::post) return nullptr;
  return make_norm(owner, "norm", options);
}

}  // namespace ablate::models
