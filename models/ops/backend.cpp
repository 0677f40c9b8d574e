#include "models/ops/backend.h"

#include <torch/csrc/jit/frontend/tracer.h>

namespace ablate::models::ops {

bool infers_on_cpu(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing() &&
         x.device().is_cpu() && x.scalar_type() == torch::kFloat;
}

}  // namespace ablate::models::ops
