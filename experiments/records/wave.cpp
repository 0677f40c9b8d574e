#include "experiments/records/wave.h"

#include <sstream>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

int64_t last_wave(const StudyFolder& folder) {
  int64_t number = 0;
  while (std::filesystem::exists(folder.wave(number + 1).path)) ++number;
  return number;
}

void write_wave_runs(const WaveFolder& wave, const std::vector<WaveRun>& runs) {
  std::string lines;
  for (const auto& [folder, until] : runs)
    lines += folder.path.string() + (until ? "\t" + std::to_string(*until) : "") + "\n";
  training::write_durably(wave.runs(), lines);
}

std::vector<WaveRun> read_wave_runs(const WaveFolder& wave) {
  std::istringstream stream(training::read_bytes(wave.runs()));
  std::vector<WaveRun> runs;
  for (std::string line; std::getline(stream, line);) {
    const auto tab = line.find('\t');
    WaveRun run{std::filesystem::path(line.substr(0, tab))};
    if (tab != std::string::npos) run.until = std::stoll(line.substr(tab + 1));
    runs.push_back(std::move(run));
  }
  return runs;
}

std::optional<WaveJobs> read_wave_jobs(const WaveFolder& wave) {
  if (!std::filesystem::exists(wave.jobs())) return {};
  try {
    return training::from_json<WaveJobs>(nlohmann::json::parse(training::read_bytes(wave.jobs())));
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

void write_wave_jobs(const WaveFolder& wave, const WaveJobs& jobs) {
  training::write_durably(wave.jobs(), training::json_file(training::to_json(jobs)));
}

}  // namespace ablate::records
