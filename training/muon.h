#pragma once

#include <vector>

#include "models/module.h"
#include "training/optimizer_options.h"

namespace ablate::training {

/// U V^T of every matrix U S V^T, nearly: five steps of the iteration of Newton and Schulz, with a
/// polynomial that rises steeply at 0, bring singular values to between about 0.7 and 1.2 (Jordan
/// 2024), in the element type of the matrices. A matrix of zeros stays one. // [N, R, C] -> [N, R,
/// C]
torch::Tensor orthogonalized(const torch::Tensor& matrices);

/// Parameters that are linear maps, and where Muon's step of each leads before it is made
/// orthogonal, at the same indices.
struct MapSteps {
  std::vector<torch::Tensor> parameters, directions;
  std::vector<const models::Maps*> maps;
};

/// Moves every map against its orthogonalised direction, by `learning_rate` times the scale of its
/// shape.
void take_orthogonal_steps(const MapSteps& steps, double learning_rate, const Muon& options);

}  // namespace ablate::training
