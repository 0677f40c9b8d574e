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
inline constexpr uint32_t kModelType = 3, kByteFallback = 35;
inline constexpr uint32_t kNormalizerName = 1, kAddDummyPrefix = 3, kRemoveExtraWhitespaces = 4,
                          kEscapeWhitespaces = 5;

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

/// A SentencePiece model, with the defaults of the format.
struct PieceModel {
  struct Piece {
    std::string text;
    float score = 0;
    PieceType type = PieceType::normal;
  };

  std::vector<Piece> pieces;  // by id
  ModelType kind = ModelType::unigram;
  bool byte_fallback = false, spaces_behind = false;
  std::string bos, eos, pad;  // texts of these pieces
  std::string table;          // of normalisation
  bool dummy_prefix = true, tidy = true, escaped = true;
  bool denormalizes = false;
};

/// Throws TokenizerError with the reason unless `bytes` are a SentencePiece model that is safe to
/// load: well-formed, at most 128 MiB, at most 2^20 pieces of at most 4 KiB of valid UTF-8, one of
/// them for unknown text, finite scores, and normalisation tables that stay within themselves.
PieceModel read_piece_model(std::string_view bytes);

/// The special tokens as the model names them: control pieces and the one for unknown text.
SpecialIds special_ids(const PieceModel& model);

}  // namespace ablate::tokenizer
