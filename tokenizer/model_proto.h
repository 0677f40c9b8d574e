#pragma once

#include <cstdint>

namespace ablate::tokenizer {

// Field numbers and values of sentencepiece_model.proto.
inline constexpr uint32_t kPieces = 1, kTrainer = 2, kNormalizer = 3, kDenormalizer = 5;
inline constexpr uint32_t kPieceText = 1, kPieceScore = 2, kPieceType = 3;
inline constexpr uint32_t kModelType = 3, kByteFallback = 35;
inline constexpr uint32_t kNormalizerName = 1, kCharsMap = 2, kAddDummyPrefix = 3,
                          kRemoveExtraWhitespaces = 4, kEscapeWhitespaces = 5, kRuleTable = 6;

enum class PieceType : int32_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};
enum class ModelType : int32_t { unigram = 1, bpe = 2, word = 3, character = 4 };

}  // namespace ablate::tokenizer
