#pragma once

#include "experiments/exchange/assembly.h"
#include "models/options/transformer_options.h"

namespace ablate::exchange {

/// Checks the tensors that nothing was made of. Each must be listed in `unused` with what it is:
/// another tensor once more, by its name, or one of these words:
/// - causal_mask: 1 where a position sees another one, and 0 elsewhere
/// - frequencies: those of the model's rotary positions
/// - masked_score: numbers of at most -1,000
/// - positions: 0, 1, 2, ...
/// - sinusoids: a table that start_vector() checks
/// - other_head, unread: any numbers, of a head that no task here has or of no computation
/// Throws CheckpointError with the names of those that are not listed, or of one that is something
/// else.
void check_unused(const Assembly& assembly, const Words& unused,
                  const models::TransformerOptions& options);

}  // namespace ablate::exchange
