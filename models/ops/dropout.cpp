#include "models/ops/dropout.h"

#include <ATen/Context.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include <cmath>

#include "models/kernel/residual_norm.h"
#include "models/kernel/run.h"

namespace ablate::models::ops {
namespace {

torch::Tensor drop_rows(const torch::Tensor& x, const DropoutStream& stream) {
  const auto keep = keep_of(stream);
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

struct DropRows : torch::autograd::Function<DropRows> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const DropoutStream& stream) {
    context->saved_data["rate"] = stream.rate;
    context->saved_data["seed"] = static_cast<int64_t>(stream.seed);
    return drop_rows(x.contiguous(), stream);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    TORCH_CHECK(!torch::GradMode::is_enabled(), "dropout has no second derivative");
    const DropoutStream stream{.rate = context->saved_data["rate"].toDouble(),
                               .seed = static_cast<uint64_t>(context->saved_data["seed"].toInt())};
    return {drop_rows(gradients[0].contiguous(), stream), torch::Tensor()};
  }
};

bool has_kernel_type(const torch::Tensor& x) {
  const auto type = x.scalar_type();
  return x.device().is_cpu() && (type == torch::kFloat || type == torch::kBFloat16);
}

/// A generator of x's device that leaves the ambient one alone.
at::Generator generator_on(const torch::Device& device, uint64_t seed) {
  auto generator = at::globalContext().defaultGenerator(device).clone();
  generator.set_current_seed(seed);
  return generator;
}

}  // namespace

kernel::Keep keep_of(const DropoutStream& stream) {
  return {.seed = stream.seed,
          .threshold = static_cast<uint32_t>(std::lround(stream.rate * 4'294'967'295.0)),
          .scale = static_cast<float>(1.0 / (1.0 - stream.rate))};
}

torch::Tensor dropout(const torch::Tensor& x, const DropoutStream& stream) {
  if (stream.rate == 0) return x;
  if (has_kernel_type(x) && !torch::jit::tracer::isTracing()) return DropRows::apply(x, stream);
  const double kept = 1 - stream.rate;
  auto mask = torch::empty_like(x).bernoulli_(kept, generator_on(x.device(), stream.seed));
  return x * mask.div_(kept);
}

}  // namespace ablate::models::ops
