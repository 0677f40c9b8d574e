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

/// The parts to use, as lines for people: the advice of each choice, by all its measurements, and
/// the gain of each option by the studies that are nearest to `scale`, at most ten times away in
/// parameters and in tokens. `choices` is the content of experiments/atlas/advice.json. Throws
/// UsageError if no study is that near.
std::string advise(const nlohmann::json& choices, const TrainingScale& scale);

}  // namespace ablate::commands
