#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

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

inline constexpr size_t kLargestModel = size_t{64} << 20U;  // bytes

/// A tokenizer model or training text that cannot be used.
struct TokenizerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws TokenizerError with the reason unless `model` is a SentencePiece model that is safe to
/// load: well-formed, at most 64 MiB, at most 2^20 pieces of at most 4 KiB of valid UTF-8, finite
/// scores, the special pieces at the ids of special_tokens.h, and a consistent normalisation table.
void check_model(std::string_view model);

/// The types of all pieces, by id. REQUIRES: check_model() accepts the model.
std::vector<PieceType> piece_types(std::string_view model);

/// The kind of a model. REQUIRES: check_model() accepts it.
ModelType model_type(std::string_view model);

}  // namespace ablate::tokenizer
