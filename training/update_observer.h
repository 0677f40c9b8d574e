#pragma once

#include <string>
#include <utility>
#include <vector>

#include "training/observables.h"
#include "training/observation.h"
#include "training/update.h"

namespace ablate::training {

/// Sees what one update does, for which it is made before and asked after.
class UpdateObserver {
 public:
  /// Computes gradients of parts of `batch`, one of the update's, and leaves the model as it was.
  /// REQUIRES: no gradients in the model.
  UpdateObserver(models::Transformer model, const data::Batch& batch, const UpdateOptions& update,
                 const ObserveOptions& options);

  /// Norm of the change / norm of the weights before it, of every layer, of what stands outside the
  /// layers and of the whole model (You et al. 2017, LARS, section 3: for plain steps the inverse of
  /// their trust ratio); and the gradient noise, unless the update is too small to be divided.
  std::vector<Observation> after(const StepRecord& record) const;

 private:
  models::Transformer model_;
  std::vector<std::pair<std::string, torch::Tensor>> weights_;  // copies; none: not wanted
  GradientSize parts_{};                                        // no tokens: not wanted
};

}  // namespace ablate::training
