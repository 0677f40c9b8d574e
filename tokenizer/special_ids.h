#pragma once

#include <cstdint>
#include <string_view>

namespace ablate::tokenizer {

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

}  // namespace ablate::tokenizer
