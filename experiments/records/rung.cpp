#include "experiments/records/rung.h"

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

namespace ablate::records {

void write_rung(const RunFolder& run, int64_t step, const RungScore& score) {
  training::write_durably(run.rung(step), training::sealed_json(training::to_json(score)));
}

std::optional<RungScore> read_rung(const RunFolder& run, int64_t step) {
  const auto file = run.rung(step);
  if (!std::filesystem::exists(file)) return {};
  try {
    return training::from_json<RungScore>(training::read_sealed_json(file));
  } catch (const nlohmann::json::exception&) {
    return {};
  } catch (const training::CheckpointError&) {
    return {};
  }
}

}  // namespace ablate::records
