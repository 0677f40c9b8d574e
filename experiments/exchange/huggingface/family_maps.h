#pragma once

#include "experiments/exchange/format/name_map.h"

namespace ablate::exchange {

/// The model types that config.json may have, each with a file maps/<type>.yaml.
std::vector<std::string> known_families();

/// The table of a family, read once. REQUIRES: a known one.
const FamilyMap& family_map(const std::string& family);

}  // namespace ablate::exchange
