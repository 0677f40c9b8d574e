#pragma once

#include "experiments/evidence/evidence.h"

namespace ablate::experiments {

// Words for programs to read.

const char* name_of(Verdict verdict);
const char* name_of(Direction direction);

}  // namespace ablate::experiments
