#include "models/parametrization.h"

#include <cmath>

#include "models/module.h"

namespace ablate::models {
namespace {

/// How one matrix of a layer starts.
struct Start {
  const XavierUniform& stated;
  double depth, width;  // what deviations are multiplied by

  Initializer operator()(const XavierInitialization& o) const {
    auto scaled = stated;
    scaled.gain = o.gain * depth;
    return scaled;
  }
  Initializer operator()(const NormalInitialization& o) const {
    return Normal{o.deviation * depth * width};
  }
};

double depth_factor(const StackOptions& options) {
  const auto depth = std::visit([](const auto& o) { return o.depth; }, options.initialization);
  return depth == DepthScaling::sqrt ? 1 / std::sqrt(static_cast<double>(options.additions())) : 1;
}

}  // namespace

void parametrize(torch::nn::Module& stack, const StackOptions& options) {
  const double share =
      static_cast<double>(base_width_of(options.parametrization, options.d_model)) /
      static_cast<double>(options.d_model);
  for (const auto& module : stack.modules(/*include_self=*/false)) {
    auto* own = dynamic_cast<Module*>(module.get());
    if (own == nullptr) continue;
    for (auto& parameter : own->own_parameters_) {
      if (parameter.role != Role::matrix) continue;
      parameter.rate = share;
      const auto* stated = std::get_if<XavierUniform>(&parameter.initializer);
      if (stated == nullptr) continue;
      const double depth = stated->adds_to_residual ? depth_factor(options) : 1;
      parameter.initializer =
          std::visit(Start{*stated, depth, std::sqrt(share)}, options.initialization);
    }
  }
}

}  // namespace ablate::models
