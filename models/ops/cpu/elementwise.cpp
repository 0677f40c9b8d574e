#include "models/kernel/reductions.h"
#include "models/kernel/residual_norm.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops::cpu {
namespace {

struct AddNorm : torch::autograd::Function<AddNorm> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& branch, const torch::Tensor& weight,
                               const torch::Tensor& bias, double epsilon,
                               const DropoutStream& stream) {
    const auto residual = x.contiguous(), added = branch.contiguous();
    const int64_t width = x.size(-1), rows = x.numel() / width;
    auto sum = torch::empty_like(residual), output = torch::empty_like(residual);
    auto statistics = torch::empty({2, rows}, weight.options().requires_grad(false));
    const auto mask = mask_of(stream);
    with_type(x.scalar_type(), [&]<class T>(T) {
      const kernel::ResidualNorm<T> arguments{
          .residual = pointer<const T>(residual),
          .branch = pointer<const T>(added),
          .sum = pointer<T>(sum),
          .output = pointer<T>(output),
          .mean = statistics.data_ptr<float>(),
          .inverse_deviation = statistics.data_ptr<float>() + rows,
          .weight = weight.const_data_ptr<float>(),
          .bias = bias.const_data_ptr<float>(),
          .epsilon = static_cast<float>(epsilon)};
      at::parallel_for(0, rows, grain(width), [&](int64_t begin, int64_t end) {
        kernel::residual_norm({begin, end, width}, mask, arguments);
      });
    });
    context->save_for_backward({sum, statistics, weight});
    context->saved_data["rate"] = stream.rate;
    context->saved_data["seed"] = static_cast<int64_t>(stream.noise.seed);
    return output;
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    refuse_second_derivative("the norm of a sum");
    const auto saved = context->get_saved_variables();
    const auto &sum = saved[0], &statistics = saved[1], &weight = saved[2];
    const auto mask =
        mask_of({.rate = context->saved_data["rate"].toDouble(),
                 .noise = {.seed = static_cast<uint64_t>(context->saved_data["seed"].toInt())}});
    const auto grad_output = grad_outputs[0].contiguous();
    const int64_t width = sum.size(-1), rows = sum.numel() / width;
    auto residual = torch::empty_like(sum), branch = torch::empty_like(sum);
    // A fixed number of partial sums keeps the result independent of scheduling.
    const int64_t parts = std::min<int64_t>(rows, at::get_num_threads());
    auto partial = torch::zeros({2, parts, width}, weight.options().requires_grad(false));
    float* partials = partial.data_ptr<float>();
    with_type(sum.scalar_type(), [&]<class T>(T) {
      const kernel::ResidualNormGradient<T> arguments{
          .output_gradient = pointer<const T>(grad_output),
          .sum = pointer<const T>(sum),
          .mean = statistics.const_data_ptr<float>(),
          .inverse_deviation = statistics.const_data_ptr<float>() + rows,
          .weight = weight.const_data_ptr<float>(),
          .residual_gradient = pointer<T>(residual),
          .branch_gradient = pointer<T>(branch)};
      at::parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
        for (int64_t part = first; part < last; ++part) {
          auto mine = arguments;
          mine.weight_gradient = partials + part * width;
          mine.bias_gradient = partials + (parts + part) * width;
          kernel::residual_norm_gradient({rows * part / parts, rows * (part + 1) / parts, width},
                                         mask, mine);
        }
      });
    });
    const auto sums = partial.sum(1);
    return {residual, branch, sums[0], sums[1], {}, {}};
  }
};

}  // namespace

torch::Tensor add_norm(const torch::Tensor& x, const torch::Tensor& branch, const LayerNorm& norm,
                       const DropoutStream& stream) {
  return AddNorm::apply(x, branch, norm.weight, norm.bias, norm.epsilon, stream);
}

void cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                            const CrossEntropyOptions& options, const torch::Tensor& losses) {
  with_type(logits.scalar_type(), [&]<class T>(T) {
    const kernel::CrossEntropy<T> arguments{.logits = pointer<T>(logits),
                                            .targets = target.const_data_ptr<int64_t>(),
                                            .vocabulary = logits.size(1),
                                            .smoothing = static_cast<float>(options.smoothing),
                                            .z = static_cast<float>(options.z),
                                            .loss = losses[0].data_ptr<float>(),
                                            .nll = losses[1].data_ptr<float>()};
    at::parallel_for(0, logits.size(0), grain(logits.size(1)), [&](int64_t begin, int64_t end) {
      kernel::cross_entropy(begin, end, arguments);
    });
  });
}

torch::Tensor drop_rows(const torch::Tensor& x, const DropoutMask& mask) {
  auto output = torch::empty_like(x);
  const int64_t width = x.size(-1);
  with_type(x.scalar_type(), [&]<class T>(T) {
    at::parallel_for(0, x.numel() / width, grain(width), [&](int64_t begin, int64_t end) {
      kernel::drop({begin, end, width}, mask, pointer<const T>(x), pointer<T>(output));
    });
  });
  return output;
}

}  // namespace ablate::models::ops::cpu
