#pragma once

#include <functional>

#include "models/options/stack_options.h"
#include "options/record.h"

namespace ablate::models {

/// What leads to the keys of the layer with this number, from 0 on: "encoder.3.", or nothing if the
/// model's own keys are meant.
using PathOfLayer = std::function<std::string(int64_t)>;

/// Tells `require` of the rules of one stack.
void check_stack(const StackOptions& stack, const PathOfLayer& path,
                 const options::Require& require);

}  // namespace ablate::models
