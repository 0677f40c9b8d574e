#pragma once

#include <cstdint>
#include <vector>

#include "models/options/transformer_options.h"
#include "tokenizer/id_map.h"
#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {

// Marian's decoder starts from a vector of zeros, that of the last token, which is also padding and
// which CTranslate2's converter takes out of the vocabulary. A model that starts otherwise has the
// vector of its start taken from all embeddings and added to the table of positions: inputs stay
// the same, and all logits of a position change by one number.

/// Our ids in the order of Marian's vocabulary: the end, unknown text, the others, and last the
/// start of outputs. Padding that is no token of its own is left out.
std::vector<int32_t> marian_order(const tokenizer::IdMap& ids);

/// The special tokens in that order.
tokenizer::SpecialIds marian_specials(const std::vector<int32_t>& order, bool masked);

/// Adds tables of so many positions. REQUIRES: tensors of Marian with the start in the last row.
void start_from_zero(training::Tensors& tensors, const models::TransformerOptions& options,
                     int64_t positions);

/// The vector to be added to all rows of our embedding of such tensors. // [D]
/// Throws CheckpointError if the positions are no sinusoids with one vector added. Undefined if
/// there is no table.
torch::Tensor start_vector(const training::Tensors& tensors,
                           const models::TransformerOptions& options);

}  // namespace ablate::exchange
