#pragma once

#include "models/random.h"

namespace ablate::training {

using models::derive_seed;

}  // namespace ablate::training
