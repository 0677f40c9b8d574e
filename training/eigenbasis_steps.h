#pragma once

#include <vector>

#include "models/module.h"
#include "training/optimizer_options.h"

namespace ablate::training {

// R outputs and C inputs of a map

/// Parameters that are linear maps, their gradients and SOAP's state, at the same indices. The
/// matrices of a parameter's maps stand one after the other.
struct SoapSteps {
  std::vector<torch::Tensor> parameters, gradients;
  std::vector<const models::Maps*> maps;
  std::vector<torch::Tensor> first;               // means of gradients, shaped as the parameter
  std::vector<torch::Tensor> second;              // of their squares in the eigenbases, likewise
  std::vector<torch::Tensor> left, left_basis;    // of each map R by R // [sum of R^2]
  std::vector<torch::Tensor> right, right_basis;  // of each map C by C // [maps C^2]
  std::vector<torch::Tensor> count;               // gradients so far, on the CPU
};

/// One update of SOAP (Vyas et al. 2024, algorithm 3, in the order of the authors' code): Adam in
/// the eigenbases of the running means of G G^T and G^T G, which are found for the first gradient
/// of a map, with which it does not move, and follow those means by one step of an orthogonal
/// iteration every `precondition_frequency` moves. `lost` is the share of the parameters that
/// decoupled weight decay subtracts.
void take_soap_steps(const SoapSteps& steps, double learning_rate, double lost,
                     const Soap& options);

}  // namespace ablate::training
