#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/id_map.h"
#include "tokenizer/text/tokenizer_error.h"

namespace ablate::tokenizer {

// Field numbers and values of sentencepiece_model.proto.
inline constexpr uint32_t kPieces = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;
inline constexpr uint32_t kPieceText = 1, kPieceScore = 2, kPieceType = 3;
inline constexpr uint32_t kModelType = 3, kByteFallback = 35, kBosName = 46, kEosName = 47,
                          kPadName = 48;
inline constexpr uint32_t kNormalizerName = 1, kCharsMap = 2, kAddDummyPrefix = 3,
                          kRemoveExtraWhitespaces = 4, kEscapeWhitespaces = 5;

enum class PieceType : int32_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};
enum class ModelType : int32_t { unigram = 1, bpe = 2, word = 3, character = 4 };

inline constexpr size_t kLargestModel = size_t{128} << 20U;  // bytes

/// Throws TokenizerError with the reason unless `model` is a SentencePiece model that is safe to
/// load: well-formed, at most 128 MiB, at most 2^20 pieces of at most 4 KiB of valid UTF-8, one of
/// them for unknown text, finite scores, and normalisation tables that stay within themselves.
void check_model(std::string_view model);

/// The special tokens as the model names them: control pieces and the one for unknown text.
/// REQUIRES: check_model() accepts the model.
SpecialIds special_ids(std::string_view model);

/// The texts of all pieces, by id. REQUIRES: check_model() accepts the model.
std::vector<std::string> piece_texts(std::string_view model);

/// The types of all pieces, by id. REQUIRES: check_model() accepts the model.
std::vector<PieceType> piece_types(std::string_view model);

/// The kind of a model. REQUIRES: check_model() accepts it.
ModelType model_type(std::string_view model);

}  // namespace ablate::tokenizer
