#pragma once

#include <filesystem>

#include "experiments/exchange/huggingface/family.h"
#include "experiments/exchange/huggingface/vocabulary_map.h"
#include "training/weights.h"

namespace ablate::exchange {

/// A checkpoint of Hugging Face's Transformers as one of ours.
struct HubCheckpoint {
  models::TransformerOptions options;
  VocabularyMap vocabulary;
  training::Weights weights;
};

/// Reads config.json and the safetensors files of the folder. `special` has the tokens that the
/// tokenizer knows and config.json does not name. If ids are never written, the output has a bias
/// that says so. Throws CheckpointError if anything in the folder is not understood, missing, left
/// over or of another shape.
HubCheckpoint read_huggingface(const std::filesystem::path& folder, const SpecialIds& special = {});

}  // namespace ablate::exchange
