#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "models/transformer.h"
#include "tokenizer/id_map.h"

namespace ablate::exchange {

/// The vocabulary of a folder: our id of each of its tokens.
struct HubVocabulary {
  std::vector<int32_t> order;
  tokenizer::SpecialIds special;  // ids of the folder
};

/// The largest difference of log-probabilities between the model and the folder as Transformers
/// computes it (hub_logits()), in units of the largest logit, at least 1. The inputs hold padding,
/// end tokens within rows, special tokens, and a row that reaches the last of learned positions, up
/// to 2,048, or distances beyond T5's farthest. REQUIRES: a model in float64 without a divider.
/// Throws as hub_logits().
double hub_difference(models::Transformer& model, const std::filesystem::path& folder,
                      const HubVocabulary& vocabulary);

/// Throws CheckpointError if the tokenizer of the folder has another special token than its
/// config.json.
void require_same_specials(const std::filesystem::path& folder);

}  // namespace ablate::exchange
