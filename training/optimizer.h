#pragma once

#include <memory>
#include <vector>

#include "models/module.h"
#include "training/optimizer_options.h"
#include "training/weights.h"

namespace ablate::training {

/// Moves a model's parameters against their gradients. Weight decay acts on all that are not
/// registered as vectors; frozen ones, which require no gradient, do not change.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One update with the gradients now in the parameters; parameters without one do not change.
  virtual void step(double learning_rate) = 0;
  /// Clears all gradients, so that the next backward pass writes instead of adding.
  virtual void clear_gradients() = 0;
  /// Gradients of all parameters that have one.
  virtual std::vector<torch::Tensor> gradients() const = 0;
  /// The state between steps, by "<kind>.<parameter's name>"; the tensors are the optimizer's own.
  virtual Tensors state() const = 0;

  /// Copies a saved state in, as load_tensors does.
  void load(const Tensors& saved);
};

/// Throws c10::Error if a parameter belongs to no models::Module, which states its role.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options,
                                          const torch::nn::Module& model,
                                          const LrMultipliers& multipliers = {});

/// Approximates U V^T of every matrix U S V^T: five steps of an iteration of polynomials bring
/// singular values to between about 0.7 and 1.2 (Jordan 2024), or 0.85 and 1.15 (Amsel et al.
/// 2025), in the element type of the matrices. A matrix of zeros stays zero.
/// // [N, R, C] -> [N, R, C]
torch::Tensor orthogonalized(const torch::Tensor& matrices,
                             MuonCoefficients coefficients = MuonCoefficients::jordan);

/// Parameters that are linear maps, and Muon's step of each before orthogonalisation, at the same
/// indices.
struct MapSteps {
  std::vector<torch::Tensor> parameters, directions;
  std::vector<const models::Maps*> maps;
  double lost = 0;  // share of the parameters that decoupled weight decay subtracts
};

/// Subtracts the share `lost` of every parameter; if `cautious` only of the elements whose
/// direction, against which the step goes, has their sign (Chen et al. 2025, Cautious Weight Decay,
/// algorithm 1).
void decay(const std::vector<torch::Tensor>& parameters,
           const std::vector<torch::Tensor>& directions, double lost, bool cautious);

/// Moves every map against its orthogonalised direction, by `learning_rate` times the scale of its
/// shape, after its decay.
void take_orthogonal_steps(const MapSteps& steps, double learning_rate, const Muon& options);

}  // namespace ablate::training
