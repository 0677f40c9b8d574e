#pragma once

#include <span>

#include "data/batch.h"
#include "data/random.h"

namespace ablate::data {

/// Masked language modelling (Devlin et al. 2018, section 3.1).
struct Masking {
  double share = 0.15;  // of the tokens to be predicted
  int64_t vocabulary = 0;
};

/// Chooses `share` of the tokens that `target_out` holds, at least one, and leaves padding in the
/// place of the others. Of the chosen ones the source shows the mask (80 %), any ordinary token
/// (10 %) or the token itself (10 %). Throws DataError where the vocabulary has no ordinary token.
/// REQUIRES: source and target_out of one shape.
void mask(Batch& batch, const Masking& options, Random& random);

/// The same for evaluation. What is hidden of an example follows from `seed`, its number and the
/// place alone, and so not from the batch that it is in; a larger share hides what a smaller one
/// does and more. An example may lose nothing, except the first, number 0, of which at least one
/// token is hidden. REQUIRES: the numbers of the batch's rows.
void mask_by_place(Batch& batch, std::span<const int64_t> examples, const Masking& options,
                   uint64_t seed);

}  // namespace ablate::data
