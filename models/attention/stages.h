#pragma once

#include <memory>
#include <vector>

#include "models/attention/stage.h"

namespace ablate::models {

/// The stages that an attention's options ask for, in the order in which they act in their places.
class Stages {
 public:
  /// They register their parameters with `owner`, the attention.
  Stages(Module& owner, const StagePlace& place);

  // Each place of `Stage`, of all of them.
  void project(Projections& own, const StagePass& pass) const;
  void score(ops::AttentionInput& input) const;
  torch::Tensor read(torch::Tensor values, Projections& own, const StagePass& pass) const;
  void begin(KVCache& cache, const torch::Tensor& like) const;

 private:
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace ablate::models
