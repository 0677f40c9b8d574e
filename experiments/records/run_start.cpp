#include "experiments/records/run_start.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "experiments/records/environment.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

std::vector<RunStart> read_starts(const RunFolder& folder) {
  const auto recorded = recorded_environment(folder);
  if (!recorded.is_object() || !recorded.contains("starts")) return {};
  std::vector<RunStart> starts;
  try {
    for (const auto& start : recorded.at("starts"))
      starts.push_back(training::from_json<RunStart>(start));
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return starts;
}

std::string hardware_of(const std::vector<RunStart>& starts) {
  std::set<std::string> kinds;
  for (const auto& start : starts)
    kinds.insert(start.gpu.empty() ? fmt::format("{} ({})", start.processor, start.cpu_capability)
                                   : start.gpu);
  return fmt::format("{}", fmt::join(kinds, "; "));
}

}  // namespace ablate::records
