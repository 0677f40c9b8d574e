#include "training/loss.h"

#include "models/kernel/run.h"
#include "models/ops/backend.h"
#include "training/kernel/cross_entropy.h"

namespace ablate::training {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Logits held at a time: few enough to stay near the cache, enough rows for efficient products.
constexpr int64_t kLogits = 4'000'000;

/// Cross-entropy of a projection, whose gradients are computed chunk by chunk in the forward pass,
/// so that neither the logits nor their gradient ever exist for all tokens.
struct LinearCrossEntropy : torch::autograd::Function<LinearCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden,
                               const torch::Tensor& weight, const torch::Tensor& target,
                               double smoothing) {
    const int64_t rows = hidden.size(0), vocabulary = weight.size(0);
    const int64_t chunk = std::max<int64_t>(64, kLogits / vocabulary);
    const auto cast = weight.to(hidden.scalar_type());
    auto hidden_gradient = torch::empty_like(hidden);
    auto weight_gradient = torch::zeros_like(weight);
    auto losses = torch::empty({2, rows}, hidden.options().dtype(torch::kFloat));
    for (int64_t begin = 0; begin < rows; begin += chunk) {
      const int64_t end = std::min(rows, begin + chunk);
      const auto part = hidden.slice(0, begin, end);
      auto logits = torch::mm(part, cast.t());  // [chunk, V], then its gradient
      to_gradient(logits, target.slice(0, begin, end), smoothing, losses.slice(1, begin, end));
      auto slice = hidden_gradient.slice(0, begin, end);
      torch::mm_out(slice, logits, cast);
      if (cast.scalar_type() == weight.scalar_type())
        weight_gradient.addmm_(logits.t(), part);
      else
        weight_gradient.add_(torch::mm(logits.t(), part));
    }
    context->save_for_backward({hidden_gradient, weight_gradient});
    const auto sums = losses.sum(1, /*keepdim=*/false, torch::kDouble).to(torch::kFloat);
    auto negative = sums[1].clone();
    context->mark_non_differentiable({negative});
    return {sums[0].clone(), negative};
  }

  static void to_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                          double smoothing, const torch::Tensor& losses) {
    models::kernel::with_type(logits.scalar_type(), [&]<class T>(T) {
      const kernel::CrossEntropy<T> arguments{.logits = models::kernel::pointer<T>(logits),
                                              .targets = target.const_data_ptr<int64_t>(),
                                              .vocabulary = logits.size(1),
                                              .smoothing = static_cast<float>(smoothing),
                                              .loss = losses[0].data_ptr<float>(),
                                              .negative = losses[1].data_ptr<float>()};
      at::parallel_for(
          0, logits.size(0), models::kernel::grain(logits.size(1)),
          [&](int64_t begin, int64_t end) { kernel::cross_entropy(begin, end, arguments); });
    });
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    return {saved[0] * gradients[0], saved[1] * gradients[0], {}, {}};
  }
};

}  // namespace

Loss cross_entropy(const torch::Tensor& hidden, const torch::Tensor& output_weight,
                   const torch::Tensor& target, LossOptions options) {
  const auto real = target.ne(options.pad).flatten().nonzero().squeeze(1);  // [N]
  const auto rows = hidden.flatten(0, 1).index_select(0, real);             // [N, D]
  const auto wanted = target.flatten().index_select(0, real);               // [N]
  if (models::ops::trains_on_cpu(rows) && output_weight.scalar_type() == torch::kFloat) {
    const auto result = LinearCrossEntropy::apply(rows, output_weight, wanted, options.smoothing);
    return {result[0], result[1]};
  }
  const auto logits = torch::linear(rows, output_weight.to(rows.scalar_type()));
  const auto wide = logits.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  const auto log_probability = torch::log_softmax(logits, -1, wide);  // [N, V]
  const auto negative = -log_probability.gather(1, wanted.unsqueeze(1)).sum();
  const auto uniform = -log_probability.mean(1).sum();
  return {(1 - options.smoothing) * negative + options.smoothing * uniform, negative.detach()};
}

}  // namespace ablate::training
