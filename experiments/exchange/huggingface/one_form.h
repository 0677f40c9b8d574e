#pragma once

#include "models/transformer_options.h"

namespace ablate::exchange {

/// Options in one form: what is absent is given, what changes no output is as it is by default, and
/// layers that are alike are the model's.
models::TransformerOptions in_one_form(const models::TransformerOptions& options);

}  // namespace ablate::exchange
