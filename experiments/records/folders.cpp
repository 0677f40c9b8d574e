#include "experiments/records/folders.h"

#include <fmt/format.h>

#include <algorithm>

namespace ablate::records {

std::string file_part(std::string test_set) {
  std::ranges::replace(test_set, ' ', '-');
  return test_set;
}

std::string label(const std::string& task, const std::string& arm, int64_t seed) {
  return fmt::format("{}/{}/seed-{}", task, arm, seed);
}

std::string label(const config::RunSpecification& run) {
  return label(run.task, config::folder_arm(run), run.seed);
}

std::filesystem::path RunFolder::sources(const std::string& test_set) const {
  return path / fmt::format("source-{}.txt", file_part(test_set));
}

std::filesystem::path RunFolder::references(const std::string& test_set) const {
  return path / fmt::format("reference-{}.txt", file_part(test_set));
}

std::filesystem::path RunFolder::outputs(const std::string& test_set) const {
  return path / fmt::format("output-{}.txt", file_part(test_set));
}

RunFolder RunFolder::of_arm(const std::string& arm) const {
  return path.parent_path().parent_path() / arm / path.filename();
}

RunFolder StudyFolder::run(const config::RunSpecification& run) const { return path / label(run); }

std::filesystem::path WaveFolder::output(const std::string& job, const std::string& task) const {
  return path / fmt::format("{}_{}.out", job, task);
}

std::filesystem::path WaveFolder::cancelled(const std::string& line) const {
  return path / fmt::format("cancelled-{}", line);
}

WaveFolder StudyFolder::wave(int64_t number) const {
  return {path / "launch" / fmt::format("wave-{}", number)};
}

StudyFolder study_folder(const std::filesystem::path& output, const std::string& name) {
  return output / name;
}

}  // namespace ablate::records
