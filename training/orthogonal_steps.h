#pragma once

#include <cstdint>
#include <vector>

#include "models/libtorch.h"
#include "models/module.h"
#include "training/optimizer_options.h"

namespace ablate::training {

/// Approximates U V^T of every matrix U S V^T: five steps of an iteration of polynomials bring
/// singular values to between about 0.7 and 1.2 (Jordan 2024), or 0.85 and 1.15 (Amsel et al.
/// 2025), in the element type of the matrices. A matrix of zeros stays zero.
/// // [N, R, C] -> [N, R, C]
torch::Tensor orthogonalized(const torch::Tensor& matrices,
                             MuonCoefficients coefficients = MuonCoefficients::jordan);

/// The linear maps of a tensor, as views of outputs by inputs.
std::vector<torch::Tensor> matrices_of(const torch::Tensor& tensor, const models::Maps& maps);

/// Square matrices that stand one after the other in `flat`, one for each of these matrices, as
/// wide as its outputs (side 0) or inputs (side 1). // [sum of N^2]
std::vector<torch::Tensor> squares_of(const torch::Tensor& flat,
                                      const std::vector<torch::Tensor>& matrices, int64_t side);

/// Parameters that are linear maps, and Muon's step of each before orthogonalisation, at the same
/// indices.
struct MapSteps {
  std::vector<torch::Tensor> parameters, directions;
  std::vector<const models::Maps*> maps;
  double lost = 0;  // share of the parameters that decoupled weight decay subtracts
  /// Running means of the squares of every row, of all maps of a parameter one after the other,
  /// which rows are divided by (NorMuon); empty: they are not. // [rows]
  std::vector<torch::Tensor> row_squares = {};
  double row_decay = 0;  // of these means
};

/// Moves every map against its orthogonalised direction, by `learning_rate` times the scale of its
/// shape, after its decay. Follows and uses the squares of rows if there are any (Li et al. 2025,
/// NorMuon, algorithm 1).
void take_orthogonal_steps(const MapSteps& steps, double learning_rate, const Muon& options);

}  // namespace ablate::training
