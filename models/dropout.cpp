#include "models/dropout.h"

#include <torch/csrc/jit/frontend/tracer.h>

#include <cmath>

#include "models/kernel/residual_norm.h"
#include "models/kernel/run.h"

namespace ablate::models {
namespace {

torch::Tensor drop_rows(const torch::Tensor& x, const kernel::Keep& keep) {
  auto output = torch::empty_like(x);
  const int64_t width = x.size(-1);
  kernel::with_type(x.scalar_type(), [&]<class T>(T) {
    at::parallel_for(0, x.numel() / width, kernel::grain(width), [&](int64_t begin, int64_t end) {
      kernel::drop({begin, end, width}, keep, kernel::pointer<const T>(x),
                   kernel::pointer<T>(output));
    });
  });
  return output;
}

struct Drop : torch::autograd::Function<Drop> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               kernel::Keep keep) {
    context->saved_data["seed"] = static_cast<int64_t>(keep.seed);
    context->saved_data["threshold"] = static_cast<int64_t>(keep.threshold);
    context->saved_data["scale"] = static_cast<double>(keep.scale);
    return drop_rows(x.contiguous(), keep);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const kernel::Keep keep{
        .seed = static_cast<uint64_t>(context->saved_data["seed"].toInt()),
        .threshold = static_cast<uint32_t>(context->saved_data["threshold"].toInt()),
        .scale = static_cast<float>(context->saved_data["scale"].toDouble())};
    return {drop_rows(gradients[0].contiguous(), keep), torch::Tensor()};
  }
};

}  // namespace

kernel::Keep Dropout::next() {
  return {.seed = kernel::mix(seed_ + ++streams_),
          .threshold = static_cast<uint32_t>(std::lround(rate_ * 4'294'967'295.0)),
          .scale = static_cast<float>(1.0 / (1.0 - rate_))};
}

bool runs_as_kernel(const torch::Tensor& x) {
  const auto type = x.scalar_type();
  return x.device().is_cpu() && (type == torch::kFloat || type == torch::kBFloat16) &&
         torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing();
}

torch::Tensor drop(const torch::Tensor& x, Dropout& dropout) {
  if (dropout.rate() == 0) return x;
  if (runs_as_kernel(x)) return Drop::apply(x, dropout.next());
  return torch::dropout(x, dropout.rate(), /*train=*/true);
}

}  // namespace ablate::models
