#pragma once

#include <string>
#include <vector>

#include "models/module.h"
#include "training/optimizer_options.h"

namespace ablate::training {

/// A parameter that is trained, and what an optimizer must know of it.
struct TrainedParameter {
  std::string name;
  torch::Tensor tensor;
  models::Role role;
  models::Maps maps;
  double rate;       // what the schedule's learning rate is multiplied by for its kind
  double width = 1;  // the base width over the model's, see models::Module
};

/// All of `model` that require a gradient, in its order. Throws c10::Error where one belongs to no
/// models::Module.
std::vector<TrainedParameter> trained_parameters_of(const torch::nn::Module& model,
                                                    const RateOptions& rates);

}  // namespace ablate::training
