#include "models/residual.h"

#include "models/kernel/residual_norm.h"
#include "models/kernel/run.h"

namespace ablate::models {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kMomentum = 0.1;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SumNorm : torch::autograd::Function<SumNorm> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& branch, const torch::Tensor& weight,
                               const torch::Tensor& bias, kernel::Keep keep) {
    const auto residual = x.contiguous(), added = branch.contiguous();
    const int64_t width = x.size(-1), rows = x.numel() / width;
    auto sum = torch::empty_like(residual), output = torch::empty_like(residual);
    auto statistics = torch::empty({2, rows}, weight.options().requires_grad(false));
    kernel::with_type(x.scalar_type(), [&]<class T>(T) {
      const kernel::ResidualNorm<T> arguments{
          .residual = kernel::pointer<const T>(residual),
          .branch = kernel::pointer<const T>(added),
          .sum = kernel::pointer<T>(sum),
          .output = kernel::pointer<T>(output),
          .mean = statistics.data_ptr<float>(),
          .inverse_deviation = statistics.data_ptr<float>() + rows,
          .weight = weight.const_data_ptr<float>(),
          .bias = bias.const_data_ptr<float>(),
          .epsilon = static_cast<float>(kEpsilon)};
      at::parallel_for(0, rows, kernel::grain(width), [&](int64_t begin, int64_t end) {
        kernel::residual_norm({begin, end, width}, keep, arguments);
      });
    });
    context->save_for_backward({sum, statistics, weight});
    context->saved_data["seed"] = static_cast<int64_t>(keep.seed);
    context->saved_data["threshold"] = static_cast<int64_t>(keep.threshold);
    context->saved_data["scale"] = static_cast<double>(keep.scale);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &sum = saved[0], &statistics = saved[1], &weight = saved[2];
    const kernel::Keep keep{
        .seed = static_cast<uint64_t>(context->saved_data["seed"].toInt()),
        .threshold = static_cast<uint32_t>(context->saved_data["threshold"].toInt()),
        .scale = static_cast<float>(context->saved_data["scale"].toDouble())};
    const auto incoming = gradients[0].contiguous();
    const int64_t width = sum.size(-1), rows = sum.numel() / width;
    auto residual = torch::empty_like(sum), branch = torch::empty_like(sum);
    // A fixed number of partial sums keeps the result independent of scheduling.
    const int64_t parts = std::min<int64_t>(rows, at::get_num_threads());
    auto partial = torch::zeros({2, parts, width}, weight.options().requires_grad(false));
    kernel::with_type(sum.scalar_type(), [&]<class T>(T) {
      at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part)
          kernel::residual_norm_gradient(
              {rows * part / parts, rows * (part + 1) / parts, width}, keep,
              kernel::ResidualNormGradient<T>{
                  .output_gradient = kernel::pointer<const T>(incoming),
                  .sum = kernel::pointer<const T>(sum),
                  .mean = statistics.const_data_ptr<float>(),
                  .inverse_deviation = statistics.const_data_ptr<float>() + rows,
                  .weight = weight.const_data_ptr<float>(),
                  .residual_gradient = kernel::pointer<T>(residual),
                  .branch_gradient = kernel::pointer<T>(branch),
                  .weight_gradient = partial.data_ptr<float>() + part * width,
                  .bias_gradient = partial.data_ptr<float>() + (parts + part) * width});
      });
    });
    const auto sums = partial.sum(1);
    return {residual, branch, sums[0], sums[1], torch::Tensor()};
  }
};

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
  if (kind_ == NormKind::layer && bias.defined() && runs_as_kernel(x) &&
      weight.scalar_type() == torch::kFloat)
    return SumNorm::apply(x, branch, weight, bias, ops::keep_of(pass.dropout.next()));
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
