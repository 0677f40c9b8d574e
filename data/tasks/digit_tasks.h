#pragma once

#include <cstdint>
#include <string>

#include "data/task_options.h"

namespace ablate::data {

/// `number` in words: "four hundred two", "vierhundertzwei". REQUIRES: 0 <= number < 10^15.
std::string spell_out(int64_t number, NumberLanguage language);

}  // namespace ablate::data
