#include "experiments/rung_score.h"

#include "training/checkpoint/durable_file.h"
#include "training/checkpoint/finite_json.h"

namespace ablate::experiments {

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

}  // namespace ablate::experiments
