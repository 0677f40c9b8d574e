#include "experiments/records/rung.h"

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

namespace ablate::records {
namespace {

constexpr const char* kRemedy = "; delete the folder of the run to train it again";

}  // namespace

void write_rung(const RunFolder& run, int64_t step, const RungScore& score) {
  training::write_durably(run.rung(step), training::sealed_json(training::to_json(score)));
}

std::optional<RungScore> read_rung(const RunFolder& run, int64_t step) {
  const auto file = run.rung(step);
  if (!std::filesystem::exists(file)) return {};
  const auto json = training::read_sealed_json(file, kRemedy);
  try {
    return training::from_json<RungScore>(json);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(file.string() + " is damaged (" + error.what() + ")" + kRemedy);
  }
}

}  // namespace ablate::records
