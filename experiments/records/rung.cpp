#include "experiments/records/rung.h"

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

void write_rung(const RunFolder& run, int64_t step, const RungScore& score) {
  training::write_durably(run.rung(step), training::json_file(training::to_json(score)));
}

std::optional<RungScore> read_rung(const RunFolder& run, int64_t step) {
  const auto file = run.rung(step);
  if (!std::filesystem::exists(file)) return {};
  try {
    return training::from_json<RungScore>(nlohmann::json::parse(training::read_bytes(file)));
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace ablate::records
