#include "models/parametrization.h"

#include <cmath>

#include "models/module.h"

namespace ablate::models {
namespace {

/// How one matrix of a layer starts.
struct Start {
  const XavierUniform& stated;
  const StackOptions& stack;
  double width;  // what deviations are multiplied by

  Initializer operator()(const XavierInitialization& o) const {
    auto scaled = stated;
    scaled.gain = o.gain * root_of_additions(o.depth);
    if (o.depth == DepthScaling::deepnorm) scaled.value_gain = stack.deepnorm.beta;
    return scaled;
  }
  Initializer operator()(const NormalInitialization& o) const {
    return Normal{o.deviation * root_of_additions(o.depth) * width};
  }

 private:
  double root_of_additions(DepthScaling depth) const {
    if (depth != DepthScaling::sqrt || !stated.adds_to_residual) return 1;
    return 1 / std::sqrt(static_cast<double>(stack.additions()));
  }
};

}  // namespace

void parametrize(torch::nn::Module& stack, const StackOptions& options) {
  const double share =
      static_cast<double>(base_width_of(options.parametrization, options.d_model)) /
      static_cast<double>(options.d_model);
  for (const auto& module : stack.modules(/*include_self=*/false)) {
    auto* own = dynamic_cast<Module*>(module.get());
    if (own == nullptr) continue;
    for (auto& parameter : own->own_parameters_) {
      if (!is_linear_map(parameter.role)) continue;
      parameter.width = share;
      const auto* stated = std::get_if<XavierUniform>(&parameter.initializer);
      if (stated == nullptr) continue;
      parameter.initializer =
          std::visit(Start{*stated, options, std::sqrt(share)}, options.initialization);
    }
  }
}

}  // namespace ablate::models
