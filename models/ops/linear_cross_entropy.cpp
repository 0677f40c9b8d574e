#include "models/ops/linear_cross_entropy.h"

#include "models/generator.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/elementwise.h"
#include "models/ops/weight_casts.h"

namespace ablate::models::ops {
namespace {

/// Logits held at a time: few enough to stay near a CPU's cache, or for another device to have room
/// for, enough rows for efficient products.
constexpr int64_t kCpuChunkLogits = 4'000'000, kDeviceChunkLogits = 40'000'000;
constexpr int64_t kFewestChunkRows = 64;

int64_t chunk_rows(const torch::Tensor& weight) {  // [V, D]
  const auto logits = weight.device().is_cpu() ? kCpuChunkLogits : kDeviceChunkLogits;
  return std::max(kFewestChunkRows, logits / weight.size(0));
}

/// Ids drawn from the softmax: the first to arrive of exponential times whose rates are the
/// probabilities. // [..., V] -> [...]
torch::Tensor drawn(const torch::Tensor& logits, at::Generator& generator) {
  const auto times = torch::empty_like(logits, wide_type(logits)).exponential_(1, generator);
  return (logits.detach() - times.log()).argmax(-1);
}

/// The same as cpu::cross_entropy_gradient by LibTorch's operators, in few passes over the logits.
/// // [N, V], [N] -> [N, V], losses [2, N]
torch::Tensor cross_entropy_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                                     const CrossEntropyOptions& options,
                                     const torch::Tensor& losses) {
  const double smoothing = options.smoothing;
  const auto column = target.unsqueeze(1);
  auto log_probability = torch::log_softmax(logits, -1, torch::kFloat);  // [N, V]
  auto loss = losses[0], nll = losses[1];
  torch::neg_out(nll, log_probability.gather(1, column).squeeze(1));
  torch::sub_out(loss, (1 - smoothing) * nll, log_probability.mean(1), smoothing);
  torch::Tensor growth;  // of the probabilities in the gradient, by the z-loss // [N, 1]
  if (options.z != 0) {
    const auto normaliser = logits.gather(1, column).squeeze(1).to(torch::kFloat) + nll;  // [N]
    loss.addcmul_(normaliser, normaliser, options.z);
    growth = (1 + 2 * options.z * normaliser).unsqueeze(1);
  }
  auto probability = log_probability.exp_();
  if (growth.defined()) probability.mul_(growth);
  probability.scatter_(1, column, smoothing - 1, "add");
  auto gradient =
      probability.scalar_type() == logits.scalar_type() ? probability : torch::empty_like(logits);
  const auto uniform = torch::scalar_tensor(smoothing / static_cast<double>(logits.size(1)));
  return torch::sub_out(gradient, probability, uniform);
}

/// The gradients are computed chunk by chunk in the forward pass.
struct LinearCrossEntropy : torch::autograd::Function<LinearCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden,
                               const torch::Tensor& weight, double softcap,
                               const torch::Tensor& target, const CrossEntropyOptions& options) {
    const int64_t rows = hidden.size(0), chunk = chunk_rows(weight);
    const auto cast = weight_in(weight, hidden.scalar_type());
    // [N, 1]; where rows can be left out, none is ignored
    const auto ignored =
        hidden.device().is_cpu() ? torch::Tensor() : target.eq(options.ignored).unsqueeze(1);
    const auto counted = ignored.defined() ? hidden.masked_fill(ignored, 0.0) : hidden;
    auto hidden_gradient = torch::empty_like(hidden);
    auto weight_gradient = weight.requires_grad() ? torch::zeros_like(weight) : torch::Tensor();
    auto losses = torch::empty({2, rows}, hidden.options().dtype(torch::kFloat));
    std::optional<at::Generator> generator;  // a CUDA graph that is captured could not have one
    if (options.draw_seed) generator = seeded_generator(*options.draw_seed, hidden.device());
    for (int64_t begin = 0; begin < rows; begin += chunk) {
      const int64_t end = std::min(rows, begin + chunk);
      const auto part = counted.slice(0, begin, end);
      const auto gradient =  // of the logits // [chunk, V]
          capped_gradient(torch::mm(part, cast.t()), softcap, [&](const torch::Tensor& logits) {
            const auto wanted = generator ? drawn(logits, *generator) : target.slice(0, begin, end);
            return to_gradient(logits, wanted, options, losses.slice(1, begin, end));
          });
      auto slice = hidden_gradient.slice(0, begin, end);
      torch::mm_out(slice, gradient, cast);
      if (weight_gradient.defined()) add_product(weight_gradient, gradient, part);
    }
    if (ignored.defined()) {
      hidden_gradient.masked_fill_(ignored, 0.0);
      losses.masked_fill_(ignored.squeeze(1), 0.0);
    }
    context->save_for_backward({hidden_gradient, weight_gradient});
    const auto sums = losses.sum(1, /*keepdim=*/false, torch::kDouble);
    const auto nll = sums[1].to(torch::kFloat);
    context->mark_non_differentiable({nll});
    return {sums[0].to(torch::kFloat), nll};
  }

  /// The gradient of logits before their cap from `gradient` of those behind it.
  template <class Gradient>
  static torch::Tensor capped_gradient(const torch::Tensor& logits, double softcap,
                                       Gradient&& gradient) {
    if (softcap == 0) return gradient(logits);
    const auto share = (logits / softcap).tanh_();  // [chunk, V]
    auto result = gradient(share * softcap);
    return result.mul_(share.square_().neg_().add_(1));
  }

  /// The gradient of the logits, perhaps in their memory.
  static torch::Tensor to_gradient(const torch::Tensor& logits, const torch::Tensor& target,
                                   const CrossEntropyOptions& options,
                                   const torch::Tensor& losses) {
    if constexpr (kHasKernels)
      if (has_cpu_type(logits)) {
        cpu::cross_entropy_gradient(logits, target, options, losses);
        return logits;
      }
    return cross_entropy_gradient(logits, target, options, losses);
  }

  static void add_product(torch::Tensor& sum, const torch::Tensor& gradient,
                          const torch::Tensor& part) {
    if (gradient.scalar_type() == sum.scalar_type())
      sum.addmm_(gradient.t(), part);
    else
      sum.add_(torch::mm(gradient.t(), part));
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    refuse_second_derivative("cross-entropy");
    const auto saved = context->get_saved_variables();
    return {saved[0] * grad_outputs[0],
            saved[1].defined() ? saved[1] * grad_outputs[0] : torch::Tensor(),
            {},
            {},
            {}};
  }
};

CrossEntropy whole_cross_entropy(const torch::Tensor& hidden, const OutputMap& output,
                                 const torch::Tensor& target, const CrossEntropyOptions& options) {
  const auto counts = target.ne(options.ignored);
  const auto logits =
      capped(torch::linear(hidden, output.weight.dense.to(hidden.scalar_type())), output.softcap);
  const auto log_probability = torch::log_softmax(logits, -1, wide_type(logits));  // [..., V]
  auto wanted = target.masked_fill(counts.logical_not(), 0);
  if (options.draw_seed) {
    auto generator = seeded_generator(*options.draw_seed, logits.device());
    wanted = drawn(logits, generator);
  }
  const auto column = wanted.unsqueeze(-1);
  const auto nll = log_probability.gather(-1, column).squeeze(-1).neg();  // [...]
  const auto uniform = log_probability.mean(-1).neg();
  const auto sum_of = [&](const torch::Tensor& x) { return x.masked_fill(~counts, 0.0).sum(); };
  const auto normaliser = logits.to(wide_type(logits)).logsumexp(-1);  // [...]
  return {.loss = sum_of((1 - options.smoothing) * nll + options.smoothing * uniform +
                         options.z * normaliser.square()),
          .nll = sum_of(nll).detach()};
}

}  // namespace

torch::Tensor capped(const torch::Tensor& x, double softcap) {
  return softcap == 0 ? x : (x / softcap).tanh() * softcap;
}

CrossEntropy linear_cross_entropy(const torch::Tensor& hidden, const OutputMap& output,
                                  const torch::Tensor& target, const CrossEntropyOptions& options) {
  const auto& weight = output.weight.dense;
  if (output.bias.defined())
    return linear_cross_entropy(
        torch::cat({hidden, torch::ones_like(hidden.narrow(-1, 0, 1))}, -1),
        OutputMap(torch::cat({weight, output.bias.unsqueeze(1)}, 1), {}, output.softcap), target,
        options);
  if (wide_type(hidden) == torch::kDouble || weight.scalar_type() != torch::kFloat)
    return whole_cross_entropy(hidden, output, target, options);
  auto rows = hidden.flatten(0, -2), wanted = target.flatten();  // [N, D], [N]
  if (hidden.device().is_cpu()) {  // elsewhere a list of rows would have to be waited for
    const auto counted = wanted.ne(options.ignored).nonzero().squeeze(1);
    rows = rows.index_select(0, counted);
    wanted = wanted.index_select(0, counted);
  }
  const auto result =
      LinearCrossEntropy::apply(rows.contiguous(), weight, output.softcap, wanted, options);
  return {.loss = result[0], .nll = result[1]};
}

TargetScores score_targets(const torch::Tensor& hidden, const OutputMap& output,
                           const torch::Tensor& target, int64_t ignored) {
  const torch::NoGradGuard no_grad;
  const auto type = wide_type(hidden);
  const auto rows = hidden.flatten(0, -2), targets = target.flatten();  // [N, D], [N]
  const int64_t count = rows.size(0), chunk = chunk_rows(output.weight.dense);
  const auto nll = torch::empty({count}, hidden.options().dtype(type));
  const auto likeliest = torch::empty({count}, hidden.options().dtype(torch::kBool));
  for (int64_t begin = 0; begin < count; begin += chunk) {
    const int64_t end = std::min(count, begin + chunk);
    const auto wanted = targets.slice(0, begin, end);
    const auto logits =
        capped(linear(rows.slice(0, begin, end), output.weight, output.bias), output.softcap)
            .to(type);  // [chunk, V]
    const auto of_target = logits.gather(1, wanted.unsqueeze(1)).squeeze(1);
    likeliest.slice(0, begin, end).copy_(logits.argmax(-1).eq(wanted));
    nll.slice(0, begin, end).copy_(logits.logsumexp(-1) - of_target);
  }
  nll.masked_fill_(targets.eq(ignored), 0.0);
  likeliest.logical_and_(targets.ne(ignored));
  return {.nll = nll.view_as(target), .likeliest = likeliest.view_as(target)};
}

}  // namespace ablate::models::ops
