#pragma once

#include <map>

#include "models/forward_context.h"
#include "models/mixer.h"

namespace ablate::training {

/// Keeps the scores of attention below a bound, update by update (Kimi Team 2025, arXiv 2507.20534,
/// section 2.1, QK-Clip): a head that gave a larger score in the passes of an update gets smaller
/// queries and keys after its step.
class ScoreClip {
 public:
  explicit ScoreClip(double most);  // 0: no bound
  ScoreClip(const ScoreClip&) = delete;
  ScoreClip& operator=(const ScoreClip&) = delete;

  /// The observer of an update's passes; null if there is no bound.
  const models::Observer* observer() const { return most_ > 0 ? &observer_ : nullptr; }
  /// After the update's step: makes the queries and keys of heads above the bound smaller.
  void clip();

 private:
  double most_;
  models::Observer observer_;
  std::map<models::ScoredMixer*, torch::Tensor> largest_;  // [H]
};

}  // namespace ablate::training
