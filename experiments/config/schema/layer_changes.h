#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config/schema/reader.h"

namespace ablate::config {

/// The keys of a change that select its layers.
struct ChangePlace {
  std::optional<int64_t> every;
  std::vector<int64_t> at;
  std::optional<models::Side> side;

  static void fields(auto& o, auto&& visit) {
    visit("every", o.every, "k: the layers k, 2k, 3k, ...; absent: see at");
    visit("at", o.at, "numbers of the layers, counted from 1; without every and at: all layers");
    visit("side", o.side, "encoder or decoder; absent: both");
  }
};

/// Builds the layers of both sides: copies of the model's layer, overlaid with the values of
/// `encoder`, `decoder` and `changes` in this order. To be called after all overlays of the model,
/// and again after any further one. Reports a change that matches no layer, and one that later
/// changes override entirely.
void lay_changes(models::TransformerOptions& model, Trail& trail, ProblemList& problems);

}  // namespace ablate::config
