#pragma once

#include <array>
#include <vector>

#include "models/module.h"

namespace ablate::training {

using TensorVector = std::vector<torch::Tensor>;

/// A tensor that an optimizer keeps for every parameter: one of its shape, a copy of it, a scalar,
/// a double on the CPU, or a vector with an element for every output of all its maps, or for every
/// pair of a map's outputs or of its inputs. All but the copy start at 0.
enum class KeptShape { parameter, copy, scalar, number, outputs, output_pairs, input_pairs };

struct Kept {
  const char* name;
  KeptShape shape = KeptShape::parameter;
};

torch::Tensor start_of(KeptShape shape, const torch::Tensor& parameter, const models::Maps& maps);

/// Parameters that one call updates, their gradients and their optimizer states, at the same
/// indices.
template <size_t N>
struct Group {
  TensorVector parameters, gradients;
  std::vector<const models::Maps*> maps;
  std::array<TensorVector, N> kept;
};

/// One update of a group.
struct Step {
  double learning_rate;  // of the group
  double rate;  // factor of the schedule's learning rate, which decoupled decay does not have
  bool decays;

  /// The share of a parameter that decoupled weight decay subtracts.
  double lost(double weight_decay) const {
    return decays ? learning_rate / rate * weight_decay : 0.0;
  }
};

/// Subtracts the share `lost` of every parameter; if `cautious` only of the elements whose
/// direction, against which the step goes, has their sign or is 0 (Chen et al. 2025, Cautious
/// Weight Decay, algorithm 1).
void decay(const TensorVector& parameters, const TensorVector& directions, double lost,
           bool cautious);

/// The linear maps of a tensor, as views of outputs by inputs.
TensorVector matrices_of(const torch::Tensor& tensor, const models::Maps& maps);

/// The parts of a kept tensor for these maps of a parameter, as views: a matrix like the map's, a
/// vector of its outputs, or a square matrix of pairs. Of a number it is the same for all.
TensorVector parts_of(const torch::Tensor& kept, KeptShape shape, const models::Maps& maps,
                      const TensorVector& matrices);

/// A linear map with its gradient and what is kept for it, as views into the tensors of a group.
template <size_t N>
struct LinearMap {
  torch::Tensor parameter, gradient;  // [R, C], outputs by inputs
  std::array<torch::Tensor, N> kept = {};
};

/// The linear maps of a group's parameter `i`; `shapes` are those of what is kept.
template <size_t N>
std::vector<LinearMap<N>> maps_of(const Group<N>& group, size_t i,
                                  const std::array<Kept, N>& shapes) {
  const auto& maps = *group.maps[i];
  const auto matrices = matrices_of(group.parameters[i], maps);
  const auto gradients = matrices_of(group.gradients[i], maps);
  std::vector<LinearMap<N>> all;
  for (size_t j = 0; j < matrices.size(); ++j) all.push_back({matrices[j], gradients[j]});
  for (size_t k = 0; k < N; ++k) {
    const auto parts = parts_of(group.kept[k][i], shapes[k].shape, maps, matrices);
    for (size_t j = 0; j < matrices.size(); ++j) all[j].kept[k] = parts[j];
  }
  return all;
}

}  // namespace ablate::training
