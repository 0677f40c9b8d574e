#include "experiments/config/yaml/problem.h"
#include "experiments/records/failure.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "tests/fuzz/fuzz.h"
#include "training/storage/errors.h"

namespace ablate::fuzz {
namespace {

/// Every file of a run, a wave and a study.
std::vector<std::filesystem::path> files() {
  const records::RunFolder run("");
  const records::WaveFolder wave{};
  return {run.config(),          run.plan(),   run.environment(),
          run.initial_weights(), run.result(), run.failure(),
          wave.runs(),           wave.jobs(),  records::StudyFolder("").command()};
}

void read(const auto& reader) { may_throw<training::CheckpointError, config::ConfigError>(reader); }

}  // namespace

/// What a report, a continued run and a scheduler read of a run's folder.
void records(std::string_view bytes) {
  static const MemoryFolder kFolder(files());
  const records::RunFolder run(kFolder.holding(bytes));
  const records::WaveFolder wave{run.path};
  read([&] {
    if (const auto result = records::read_result(run)) records::check_files(run, *result);
  });
  read([&] {
    if (const auto failure = records::read_failure(run)) records::reason(*failure);
  });
  read([&] { records::read_plan(run); });
  read([&] { records::planned_experiment(run); });
  read([&] { records::hardware_of(records::read_starts(run)); });
  read([&] { records::data_folder_of(run.path, ""); });
  read([&] { records::read_initial_weights(run); });
  read([&] { records::frozen_selection(run.path); });
  read([&] { records::read_wave_runs(wave); });
  read([&] { records::read_wave_jobs(wave); });
}

}  // namespace ablate::fuzz
