#include "models/dropout.h"

#include <torch/csrc/jit/frontend/tracer.h>

namespace ablate::models {

ops::DropoutStream Dropout::next() {
  return {.rate = rate_, .seed = kernel::mix(seed_ + ++streams_)};
}

bool runs_as_kernel(const torch::Tensor& x) {
  const auto type = x.scalar_type();
  return x.device().is_cpu() && (type == torch::kFloat || type == torch::kBFloat16) &&
         torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing();
}

torch::Tensor drop(const torch::Tensor& x, Dropout& dropout) {
  return dropout.rate() == 0 ? x : ops::dropout(x, dropout.next());
}

}  // namespace ablate::models
