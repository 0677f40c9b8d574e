#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "experiments/config/schema/reader.h"

namespace ablate::config {

/// Which layers a change is of, as it says beside the keys that it changes.
struct ChangePlace {
  std::optional<int64_t> every;
  std::vector<int64_t> at;
  std::optional<models::Side> side;

  static void fields(auto& o, auto&& visit) {
    visit("every", o.every, "k: the layers k, 2k, 3k and so on; absent: see at");
    visit("at", o.at, "the numbers of the layers, from 1 on; with neither: all layers");
    visit("side", o.side, "encoder or decoder; absent: both");
  }
};

/// Makes the lists of layers from what the overlays gave of `encoder`, `decoder` and `changes`,
/// laid one after another over layers that are as the model says. To be called once all overlays
/// are laid, and again after any further one. Reports a change that touches no layer, and one of
/// which others in the list hide everything.
void lay_changes(models::TransformerOptions& model, Trail& trail, ProblemList& problems);

}  // namespace ablate::config
