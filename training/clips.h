#pragma once

#include <map>
#include <vector>

#include "models/forward_context.h"
#include "models/mixer.h"
#include "training/update_stages.h"

namespace ablate::training {

/// Keeps one update within the bounds of its options.
class Clips {
 public:
  explicit Clips(const ClipOptions& options);
  Clips(const Clips&) = delete;
  Clips& operator=(const Clips&) = delete;

  /// The observer of the update's passes; null if no bound needs one.
  const models::Observer* observer() const;
  /// Multiplies gradients whose norm is above the bound by the factor that brings them to it.
  void before_step(const std::vector<torch::Tensor>& gradients, double norm) const;
  /// QK-Clip: a head that gave a score above the bound gets smaller queries and keys.
  void after_step();

 private:
  ClipOptions options_;
  models::Observer observer_;
  std::map<models::ScoredMixer*, torch::Tensor> largest_;  // scores // [H]
};

}  // namespace ablate::training
