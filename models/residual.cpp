#include "models/residual.h"

#include "models/kernel/residual_norm.h"
#include "models/kernel/run.h"

namespace ablate::models {
namespace {

constexpr double kEpsilon = 1e-5;

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

NormImpl::NormImpl(int64_t width)
    : weight(register_parameter("weight", torch::ones({width}))),
      bias(register_parameter("bias", torch::zeros({width}))) {}

torch::Tensor NormImpl::forward(const torch::Tensor& x) {
  const auto type = x.scalar_type();
  return torch::layer_norm(x, {weight.size(0)}, weight.to(type), bias.to(type), kEpsilon);
}

torch::Tensor NormImpl::after_sum(const torch::Tensor& x, const torch::Tensor& branch,
                                  Dropout& dropout) {
  if (runs_as_kernel(x) && weight.scalar_type() == torch::kFloat)
    return SumNorm::apply(x, branch, weight, bias, dropout.next());
  return forward(x + drop(branch, dropout));
}

}  // namespace ablate::models
