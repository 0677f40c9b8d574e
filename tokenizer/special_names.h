#pragma once

#include <string>
#include <string_view>

namespace ablate::tokenizer {

// SentencePiece knows special pieces by their names, and takes a text that spells one for it: in
// training it leaves the text out, and in encoding a word with that name is the special piece. Text
// must therefore never meet these names.

/// What a special piece is called while a model is trained: no character of any text begins it.
std::string training_name(std::string_view special);

/// The trained model with its special pieces under their own names.
std::string with_own_names(std::string_view model);

/// The model with names of its special pieces that no text can spell: the byte 0xff, which is in no
/// valid UTF-8 and replaced in what SentencePiece reads, and the name. REQUIRES: check_model()
/// accepts it.
std::string with_unspellable_names(std::string_view model);

}  // namespace ablate::tokenizer
