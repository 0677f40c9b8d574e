#pragma once

#include "models/options/transformer_options.h"

namespace ablate::exchange {

/// The types of texts in BERT's folders.
inline constexpr int64_t kBertTypes = 2;

/// The same options in one form: absent values are given, values that change no output have their
/// defaults, and layers that are alike are the model's.
models::TransformerOptions in_one_form(models::TransformerOptions o);

}  // namespace ablate::exchange
