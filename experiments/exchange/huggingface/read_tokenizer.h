#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "data/text_encoder.h"
#include "experiments/exchange/huggingface/read_huggingface.h"

namespace ablate::exchange {

/// The tokenizer's files in a folder of Hugging Face's Transformers.
struct HubTokenizer {
  std::string source, target;                 // the same file, but for Marian
  std::map<std::string, int32_t> vocabulary;  // ids of Marian's pieces; otherwise empty
  tokenizer::SpecialIds special;              // that the files name
  tokenizer::Surroundings around;             // what Transformers puts around a text
  bool cleans = false;                        // whether it takes spaces before punctuation away
};

/// Reads tokenizer.json, or else Marian's source.spm, target.spm and vocab.json, or else a
/// SentencePiece model: tokenizer.model or spiece.model. Throws CheckpointError if there is none,
/// and TokenizerError if it is not usable, or if tokenizer_config.json changes it.
HubTokenizer read_tokenizer(const std::filesystem::path& folder);

/// The tokenizers of the model. Throws TokenizerError if it has fewer tokens, or if other tokens
/// than its start and end stand around a text.
data::Tokenizers tokenizers_of(const HubTokenizer& files, const HubCheckpoint& model);

}  // namespace ablate::exchange
