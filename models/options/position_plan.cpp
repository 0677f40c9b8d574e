#include "models/options/position_plan.h"

#include <algorithm>

namespace ablate::models {

bool Scheme::serves(const LayerOptions& layer, int64_t d_model) const {
  if (!equal(options, layer.position)) return false;
  const auto own = heads_for_positions(layer.attention, d_model);
  return !own || !heads || !traits_of(options).needs_attention ||
         (own->maps() == heads->maps() && own->d_k == heads->d_k && own->d_v == heads->d_v);
}

PositionPlan position_plan(const StackOptions& stack) {
  PositionPlan plan;
  for (int64_t i = 0; i < stack.different_layers(); ++i) {
    const auto& layer = stack.layer(i);
    auto found = std::ranges::find_if(
        plan.schemes, [&](const auto& o) { return o.serves(layer, stack.d_model); });
    if (found == plan.schemes.end())
      found = plan.schemes.insert(found, {.options = layer.position, .first = i, .heads = {}});
    plan.layers.push_back({static_cast<size_t>(found - plan.schemes.begin()), found->scored});
    const auto heads = heads_for_positions(layer.attention, stack.d_model);
    if (!heads) continue;
    if (!found->heads) found->heads = heads;
    ++found->scored;
  }
  return plan;
}

}  // namespace ablate::models
