#include "experiments/records/initial_weights.h"

#include <nlohmann/json.hpp>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

namespace ablate::records {

double shared_share(const InitialWeights& arm, const InitialWeights& baseline) {
  int64_t all = 0, shared = 0;
  for (const auto& [digest, numbers] : arm) {
    all += numbers;
    if (baseline.contains(digest)) shared += numbers;
  }
  return static_cast<double>(shared) / static_cast<double>(all);
}

void write_initial_weights(const RunFolder& folder, const InitialWeights& weights) {
  training::write_durably(folder.initial_weights(), training::sealed_json(weights));
}

InitialWeights read_initial_weights(const RunFolder& folder) {
  if (!std::filesystem::exists(folder.initial_weights())) return {};
  const auto json = training::read_sealed_json(folder.initial_weights());
  try {
    training::require_integers(json);
    return json.get<InitialWeights>();
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(folder.initial_weights().string() + " is damaged (" +
                                    error.what() + ")");
  }
}

}  // namespace ablate::records
