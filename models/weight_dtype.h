#pragma once

#include <string_view>

#include "options/enumeration.h"

namespace ablate::models {

/// Type in which inference holds the weights of its products.
ABLATE_ENUM(WeightDtype, fp32, bf16);

}  // namespace ablate::models
