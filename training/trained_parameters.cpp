#include "training/trained_parameters.h"

#include <map>

namespace ablate::training {
namespace {

double multiplier_of(models::Role role, const LrMultipliers& multipliers) {
  switch (role) {
    case models::Role::embedding:
      return multipliers.embeddings;
    case models::Role::matrix:
    case models::Role::gate:
      return multipliers.matrices;
    case models::Role::output:
      return multipliers.output;
    case models::Role::vector:
      return multipliers.vectors;
  }
  return 1.0;
}

using Registered = std::map<const at::TensorImpl*, models::Module::Parameter>;

Registered registered_in(const torch::nn::Module& model) {
  Registered all;
  const auto add = [&](const torch::nn::Module& module) {
    if (const auto* own = dynamic_cast<const models::Module*>(&module))
      for (const auto& parameter : own->own_parameters())
        all.emplace(parameter.tensor.unsafeGetTensorImpl(), parameter);
  };
  add(model);
  for (const auto& module : model.modules(/*include_self=*/false)) add(*module);
  return all;
}

}  // namespace

std::vector<TrainedParameter> trained_parameters_of(const torch::nn::Module& model,
                                                    const LrMultipliers& multipliers) {
  const auto registered = registered_in(model);
  std::vector<TrainedParameter> trained;
  for (const auto& item : model.named_parameters()) {
    if (!item.value().requires_grad()) continue;
    const auto found = registered.find(item.value().unsafeGetTensorImpl());
    TORCH_CHECK(found != registered.end(), "the parameter '", item.key(), "' states no role");
    const auto& own = found->second;
    trained.push_back({item.key(), item.value(), own.role, own.maps,
                       multiplier_of(own.role, multipliers), own.width});
  }
  return trained;
}

}  // namespace ablate::training
