#include "models/ops/backend.h"

#include <torch/csrc/jit/frontend/tracer.h>

namespace ablate::models::ops {

bool has_cpu_type(const torch::Tensor& x) {
  return x.device().is_cpu() &&
         (x.scalar_type() == torch::kFloat || x.scalar_type() == torch::kBFloat16);
}

bool is_trained(const torch::Tensor& parameter) { return parameter.requires_grad(); }

bool trains_on_cpu(const torch::Tensor& x) {
  return has_cpu_type(x) && torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing();
}

bool infers_on_cpu(const torch::Tensor& x) {
  return !torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing() &&
         x.device().is_cpu() && x.scalar_type() == torch::kFloat;
}

int64_t positions_at_once(int64_t most, int64_t positions) {
  return torch::jit::tracer::isTracing() ? positions : most;
}

bool computes_elsewhere(const torch::Tensor& x) {
  return !x.device().is_cpu() && !torch::jit::tracer::isTracing();
}

torch::Tensor to_device(const torch::Tensor& x, torch::Device device) {
  if (device.is_cpu() || device.is_meta()) return x.to(device);
  return x.pin_memory().to(device, /*non_blocking=*/true);
}

void refuse_second_derivative(const char* operation) {
  TORCH_CHECK(!torch::GradMode::is_enabled(), operation,
              " has no second derivative: its backward pass cannot be differentiated. Leave "
              "create_graph off.");
}

}  // namespace ablate::models::ops
