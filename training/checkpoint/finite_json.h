#pragma once

#include <nlohmann/json.hpp>

namespace ablate::training {

/// `value` with each number that JSON cannot hold as the string "NaN", "Infinity" or "-Infinity".
nlohmann::json without_non_finite(nlohmann::json value);

/// Undoes it: those strings become numbers again.
nlohmann::json with_non_finite(nlohmann::json value);

}  // namespace ablate::training
