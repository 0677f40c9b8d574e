#include "experiments/records/environment.h"

#include "training/storage/durable_file.h"

namespace ablate::records {

nlohmann::json recorded_environment(const RunFolder& folder) {
  const auto file = folder.environment();
  if (!std::filesystem::exists(file)) return nullptr;
  const auto json = nlohmann::json::parse(training::read_bytes(file), nullptr, false);
  return json.is_object() ? json : nlohmann::json();
}

std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given) {
  if (!given.empty()) return given;
  const auto recorded = recorded_environment(run);
  return recorded.is_object() ? recorded.value("data_folder", ".") : ".";
}

}  // namespace ablate::records
