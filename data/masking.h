#pragma once

#include "data/batch.h"
#include "data/random.h"

namespace ablate::data {

/// Masked language modelling (Devlin et al. 2018, section 3.1).
struct Masking {
  double share = 0.15;  // of the pieces to be predicted
  int64_t vocabulary = 0;
};

/// Chooses `share` of the pieces that `target_out` holds and leaves padding in the place of the
/// others. Of the chosen ones the source shows the mask (80 %), any ordinary piece (10 %) or the
/// piece itself (10 %). At least one piece is chosen. REQUIRES: source and target_out of one shape.
void mask(Batch& batch, const Masking& options, Random& random);

}  // namespace ablate::data
