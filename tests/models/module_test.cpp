#include "models/module.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

/// All modules of ours by their names.
std::map<std::string, const Module*> modules_of(const Transformer& model) {
  std::map<std::string, const Module*> modules;
  for (const auto& item : model->named_modules())
    if (const auto* own = dynamic_cast<const Module*>(item.value().get()))
      modules[item.key()] = own;
  return modules;
}

TEST(Module, ASiteIsAFunctionOfTheNameAndOfNothingElse) {
  const auto baseline_model = make(tiny());
  const auto baseline = modules_of(baseline_model);
  for (const auto& [name, options] : variants()) {
    const auto model = make(options);
    std::map<uint64_t, std::string> names;
    for (const auto& [key, module] : modules_of(model)) {
      EXPECT_TRUE(names.emplace(module->site(), key).second) << name << " " << key;
      const auto found = baseline.find(key);
      if (found != baseline.end()) {
        EXPECT_EQ(found->second->site(), module->site()) << name << " " << key;
      }
    }
  }
}

/// What decays: weights of products and tables, not biases, norms, gains and short convolutions.
/// The fixed weights between residual streams are the biases of those that depend on the input.
TEST(Module, VectorsAreBiasesShortConvolutionsFixedMixesAndTheParametersOfOneDimension) {
  for (const auto& [name, options] : variants()) {
    const auto model = make(options);
    size_t stated = 0;
    for (const auto& [key, module] : modules_of(model)) {
      for (const auto& item : module->own_parameters())
        EXPECT_EQ(item.role != Role::vector,
                  item.tensor.dim() >= 2 && !item.name.ends_with("bias") &&
                      !item.name.starts_with("fixed_") && key.find("canon") == std::string::npos)
            << name << " " << key << " " << item.name;
      stated += module->own_parameters().size();
    }
    EXPECT_EQ(stated, model->parameters().size()) << name;
  }
}

TEST(Module, RandomTensorsAreNoNumbersUntilTheyAreDrawn) {
  Module module;
  const auto weight = module.register_parameter("weight", {2, 3}, Normal{}, Role::matrix);
  const auto bias = module.register_parameter("bias", {2}, Constant{0.5}, Role::vector);
  const auto centres = module.register_buffer("centres", {2}, Uniform{});
  EXPECT_TRUE(weight.isnan().all().item<bool>());
  EXPECT_TRUE(centres.isnan().all().item<bool>());
  EXPECT_TRUE(bias.eq(0.5).all().item<bool>());
  initialize(module, 1);
  EXPECT_TRUE(weight.isfinite().all().item<bool>());
  EXPECT_TRUE(centres.isfinite().all().item<bool>());
}

}  // namespace
}  // namespace ablate::models
