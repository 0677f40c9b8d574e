#pragma once

#include <vector>

#include "models/module.h"
#include "training/optimizer_options.h"

namespace ablate::training {

// R outputs and C inputs of a map

/// Parameters that are linear maps, their gradients and Kron's state, at the same indices. The
/// matrices of a parameter's maps stand one after the other.
struct KronSteps {
  std::vector<torch::Tensor> parameters, gradients;
  std::vector<const models::Maps*> maps;
  std::vector<torch::Tensor> momentum;  // means of gradients, shaped as the parameter
  std::vector<torch::Tensor> left;      // of each map R by R, upper triangular // [sum of R^2]
  std::vector<torch::Tensor> right;     // of each map C by C, upper triangular // [maps C^2]
  std::vector<torch::Tensor> count;     // gradients so far, on the CPU
};

/// One update of PSGD with Kronecker factors (Li 2019, section 4, in the form of the package
/// kron_torch): with the unbiased momentum M of a map, the step is A^T A M B^T B, whose elements
/// have at most the root mean square 1.1. The triangular A and B start as identities and follow the
/// relative gradient of E|A M B^T|^2 + E|A^-T V B^-1|^2, with V drawn from a standard normal
/// distribution by the number of the update and the map. A map whose gradients were all 0 so far
/// keeps its factors. `lost` is the share of the parameters that decoupled weight decay subtracts.
void take_kron_steps(const KronSteps& steps, double learning_rate, double lost,
                     const Kron& options);

}  // namespace ablate::training
