#include "experiments/records/environment.h"

#include "training/storage/sealed_json.h"

namespace ablate::records {

nlohmann::json recorded_environment(const RunFolder& folder) {
  const auto file = folder.environment();
  if (!std::filesystem::exists(file)) return nullptr;
  return training::read_sealed_json(file, "; the run goes on without it once it is removed");
}

std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given) {
  if (!given.empty()) return given;
  const auto recorded = recorded_environment(run);
  if (!recorded.is_object() || !recorded.contains("data_folder")) return ".";
  const auto& folder = recorded.at("data_folder");
  if (!folder.is_string())
    throw training::CheckpointError(RunFolder(run).environment().string() +
                                    " is damaged: its data_folder is no text");
  return folder.get<std::string>();
}

}  // namespace ablate::records
