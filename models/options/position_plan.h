#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/options/stack_options.h"

namespace ablate::models {

/// A position scheme of a stack. Layers with equal options have one scheme, but schemes that act
/// inside attention have heads of one number and width.
struct Scheme {
  PositionOptions options;
  int64_t first;                   // the first of the different layers that has it
  std::optional<MultiHead> heads;  // those that it serves; absent: its layers have no scores
  int64_t scored = 0;              // layers whose scores it serves

  /// Whether a layer of a model this wide can have it, too.
  bool serves(const LayerOptions& layer, int64_t d_model) const;
};

/// The position scheme of each of the different layers.
struct PositionPlan {
  struct Use {
    size_t scheme;
    int64_t score_index;  // layers before this one whose scores the scheme serves
  };
  std::vector<Scheme> schemes;  // by their first layers
  std::vector<Use> layers;
};

PositionPlan position_plan(const StackOptions& stack);

}  // namespace ablate::models
