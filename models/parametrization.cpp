#include "models/parametrization.h"

#include <cmath>
#include <variant>

namespace ablate::models {
namespace {

Initializer cut_normal(const NormalInitialization& o, double deviation) {
  if (o.cutoff) return TruncatedNormal{deviation, *o.cutoff};
  return Normal{deviation};
}

/// How embeddings and output start in a model whose base has this width.
struct TableStart {
  double base, factor;

  Initializer operator()(const XavierInitialization&) const {
    return Normal{factor * (1.0 / std::sqrt(base))};
  }
  Initializer operator()(const NormalInitialization& o) const {
    return cut_normal(o, factor * o.deviation);
  }
  Initializer operator()(const T5Initialization& o) const { return Normal{factor * o.factor}; }
};

/// How one matrix of a layer starts.
struct Start {
  const XavierUniform& stated;
  const StackOptions& stack;
  int64_t columns;
  double width;  // factor of standard deviations

  Initializer operator()(const XavierInitialization& o) const {
    auto scaled = stated;
    scaled.gain = o.gain * factor_of(o.depth);
    if (o.depth == DepthScaling::deepnorm) scaled.value_gain = stack.deepnorm.beta;
    return scaled;
  }
  Initializer operator()(const NormalInitialization& o) const {
    return cut_normal(o, o.deviation * factor_of(o.depth) * width);
  }
  Initializer operator()(const T5Initialization& o) const {
    const auto root = [](int64_t number) { return std::sqrt(static_cast<double>(number)); };
    const int64_t inputs = stated.transposed ? stated.rows.front() : columns;
    const double deviation = o.factor * factor_of(o.depth) / root(inputs);
    if (stated.d_k == 0) return Normal{deviation};
    return Normal{deviation, stated.rows.front(), 1 / root(stated.d_k)};
  }

 private:
  double factor_of(DepthScaling depth) const {
    if (!stated.adds_to_residual) return 1;
    if (depth == DepthScaling::zero) return 0;
    if (depth != DepthScaling::sqrt) return 1;
    return 1 / std::sqrt(static_cast<double>(stack.additions()));
  }
};

}  // namespace

void parametrize(torch::nn::Module& stack, const StackOptions& options) {
  const double share = options.narrowing();
  for (const auto& module : stack.modules(/*include_self=*/false)) {
    auto* own = dynamic_cast<Module*>(module.get());
    if (own == nullptr) continue;
    for (auto& parameter : own->own_parameters_) {
      if (!is_linear_map(parameter.role)) continue;
      parameter.width = share;
      const auto* stated = std::get_if<XavierUniform>(&parameter.initializer);
      if (stated == nullptr) continue;
      parameter.initializer =
          std::visit(Start{*stated, options, parameter.tensor.size(-1), std::sqrt(share)},
                     options.initialization);
    }
  }
}

Initializer start_of_table(const TransformerOptions& options, Role role) {
  const auto base = static_cast<double>(base_width_of(options.parametrization, options.d_model));
  const double factor = std::visit(
      [&](const Initialization& o) { return role == Role::output ? o.output : o.embeddings; },
      options.initialization);
  return std::visit(TableStart{base, factor}, options.initialization);
}

}  // namespace ablate::models
