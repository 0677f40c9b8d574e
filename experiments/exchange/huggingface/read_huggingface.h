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

/// What a tokenizer says of the special tokens.
struct TokenizerSpecials {
  tokenizer::SpecialIds named = {};   // counts where config.json names none
  std::optional<int32_t> start = {};  // before every text: counts more, but for a decoder's start
  std::optional<int32_t> end = {};    // behind every text: counts more in an encoder alone
};

/// Reads config.json and the safetensors files of the folder. If ids are never written, the output
/// has a bias that says so. Throws CheckpointError if anything in the folder is not understood,
/// missing, left over or of another shape, and TokenizerError for a special token outside of the
/// vocabulary.
HubCheckpoint read_huggingface(const std::filesystem::path& folder,
                               const TokenizerSpecials& special = {});

}  // namespace ablate::exchange
