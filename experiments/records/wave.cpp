#include "experiments/records/wave.h"

#include <algorithm>
#include <sstream>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

/// Whether every task has one of so many runs.
bool fits(const WaveJobs& jobs, int64_t runs) {
  return std::ranges::all_of(jobs.arrays, [&](const WaveArray& array) {
    return array.first >= 0 && array.first <= runs && array.tasks >= 0 &&
           array.tasks <= runs - array.first;
  });
}

}  // namespace

int64_t last_wave(const StudyFolder& folder) {
  int64_t number = 0;
  while (std::filesystem::exists(folder.wave(number + 1).path)) ++number;
  return number;
}

void write_wave_runs(const WaveFolder& wave, const std::vector<RunFolder>& runs) {
  std::string lines;
  for (const auto& run : runs) lines += run.path.string() + "\n";
  training::write_durably(wave.runs(), lines);
}

std::vector<RunFolder> read_wave_runs(const WaveFolder& wave) {
  std::istringstream stream(training::read_bytes(wave.runs()));
  std::vector<RunFolder> runs;
  for (std::string line; std::getline(stream, line);)
    runs.emplace_back(std::filesystem::path(line));
  return runs;
}

std::optional<WaveJobs> read_wave_jobs(const WaveFolder& wave) {
  if (!std::filesystem::exists(wave.jobs())) return {};
  try {
    auto jobs =
        training::from_json<WaveJobs>(training::parse_json(training::read_bytes(wave.jobs())));
    if (!fits(jobs, std::ssize(read_wave_runs(wave)))) return {};
    return jobs;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void write_wave_jobs(const WaveFolder& wave, const WaveJobs& jobs) {
  training::write_durably(wave.jobs(), training::json_file(training::to_json(jobs)));
}

}  // namespace ablate::records
