#include "experiments/records/rung.h"

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"

namespace ablate::records {
namespace {

constexpr const char* kRemedy = "; delete the folder of the run to train it again";

/// Its place in its study, wherever that lies.
std::string name_of(const RunFolder& run) {
  const auto arm = run.path.parent_path(), task = arm.parent_path();
  return (task.filename() / arm.filename() / run.path.filename()).string();
}

}  // namespace

void write_rung(const RunFolder& run, int64_t step, RungScore score) {
  score.run = name_of(run);
  score.step = step;
  training::write_durably(run.rung(step), training::sealed_json(training::to_json(score)));
}

std::optional<RungScore> read_rung(const RunFolder& run, int64_t step) {
  const auto file = run.rung(step);
  if (!std::filesystem::exists(file)) return {};
  const auto json = training::read_sealed_json(file, kRemedy);
  RungScore score;
  try {
    score = training::from_json<RungScore>(json);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(file.string() + " is damaged (" + error.what() + ")" + kRemedy);
  }
  if (score.run != name_of(run) || score.step != step)
    throw training::CheckpointError(file.string() + " is that of " + score.run + " after step " +
                                    std::to_string(score.step) + kRemedy);
  return score;
}

}  // namespace ablate::records
