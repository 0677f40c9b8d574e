#pragma once

#include "experiments/exchange/format/name_map.h"

namespace ablate::exchange {

/// The map of names of a family, maps/<family>.yaml. REQUIRES: one that read_family() gives.
FamilyMap family_map(const std::string& family);

}  // namespace ablate::exchange
