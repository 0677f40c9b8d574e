#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ablate::tokenizer {

struct PieceModel;

// The one place that owns the special tokens and their ids.
inline constexpr int32_t kPad = 0;
inline constexpr int32_t kBos = 1;
inline constexpr int32_t kEos = 2;
inline constexpr int32_t kUnk = 3;
inline constexpr int32_t kMask = 4;  // only in a model trained with `mask`
inline constexpr std::string_view kPadPiece = "<pad>";
inline constexpr std::string_view kBosPiece = "<s>";
inline constexpr std::string_view kEosPiece = "</s>";
inline constexpr std::string_view kUnkPiece = "<unk>";
inline constexpr std::string_view kMaskToken = "<mask>";

// SentencePiece identifies special pieces by their names, also in text: training leaves such a text
// out, and encoding turns a word with that name into the special piece. Text must therefore never
// contain these names.

/// The name of a special piece while a model is trained: it begins with a character that no text
/// has.
std::string training_name(std::string_view special);

/// The trained model with its special pieces under their own names.
std::string with_own_names(std::string_view model);

/// The model with names of its special pieces that no text can spell: the name after the byte 0xff,
/// which no valid UTF-8 has and SentencePiece replaces in its input. REQUIRES: `model` was read
/// from `bytes`.
std::string with_unspellable_names(std::string_view bytes, const PieceModel& model);

}  // namespace ablate::tokenizer
