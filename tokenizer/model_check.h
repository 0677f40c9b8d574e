#pragma once

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tokenizer/model_proto.h"

namespace ablate::tokenizer {

inline constexpr size_t kLargestModel = size_t{64} << 20U;  // bytes

/// A tokenizer model or training text that cannot be used.
struct TokenizerError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws TokenizerError with the reason unless `model` is a SentencePiece model that is safe to
/// load: well-formed, at most 64 MiB, at most 2^20 pieces of at most 4 KiB of valid UTF-8, finite
/// scores, the special pieces where special_ids.h puts them, and a consistent normalisation table.
void check_model(std::string_view model);

/// The types of all pieces, by id. REQUIRES: check_model() accepts the model.
std::vector<PieceType> piece_types(std::string_view model);

/// The kind of a model. REQUIRES: check_model() accepts it.
ModelType model_type(std::string_view model);

}  // namespace ablate::tokenizer
