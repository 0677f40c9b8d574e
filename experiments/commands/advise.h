#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ablate::commands {

/// The size of a model and of its training.
struct TrainingScale {
  double parameters = 1;  // REQUIRES: above 0
  double tokens = 1;      // REQUIRES: above 0
  bool operator==(const TrainingScale&) const = default;
};

/// What to use, as lines for people: of each choice what all its measurements say, and what each
/// option gained where it was measured nearest to `scale`, in all studies of that size, which is at
/// most ten times away in parameters and in tokens. `choices` is what experiments/atlas/advice.json
/// holds. Throws UsageError if nothing at all was measured that near.
std::string advise(const nlohmann::json& choices, const TrainingScale& scale);

}  // namespace ablate::commands
