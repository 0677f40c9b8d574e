#pragma once

#include "models/options/transformer_options.h"
#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {

// Tensors of latent attention and of Mamba-2 have their numbers in another order in Transformers.
// Maps of names are of the order that these give: query and expansion by parts instead of by heads,
// with the rotated part of queries first; steps apart from the other projections, as dt_proj; the
// filters of convolutions by time, as ours [W, D]. Other tensors stay as they are, and so do those
// whose shapes do not fit, which the maps refuse by name.

/// `pairs_are_neighbours`: as in HubModel.
training::Tensors in_our_layout(const training::Tensors& theirs,
                                const models::TransformerOptions& options,
                                bool pairs_are_neighbours);

training::Tensors in_their_layout(const training::Tensors& ours,
                                  const models::TransformerOptions& options);

}  // namespace ablate::exchange
