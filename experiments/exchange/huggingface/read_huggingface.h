#pragma once

#include <filesystem>

#include "experiments/exchange/huggingface/family.h"
#include "training/weights.h"

namespace ablate::exchange {

/// A checkpoint of Hugging Face's Transformers as one of ours.
struct HubCheckpoint {
  std::string family;
  models::TransformerOptions options;
  tokenizer::SpecialIds special;  // the ids of config.json, and of the tokenizer where it has none
  int64_t vocabulary = 0;
  tokenizer::IdMap ids;  // of the vocabulary
  training::Weights weights;
};

/// Reads config.json and the safetensors files of the folder. `special` has the tokens that the
/// tokenizer knows and config.json does not name. If ids are never written, the output has a bias
/// that says so. Throws CheckpointError if anything in the folder is not understood, missing, left
/// over or of another shape, and TokenizerError for a special token outside of the vocabulary.
HubCheckpoint read_huggingface(const std::filesystem::path& folder,
                               const tokenizer::SpecialIds& special = {});

}  // namespace ablate::exchange
