#include "experiments/cli/data_flag.h"

#include <fmt/format.h>

#include "experiments/config/file_check.h"
#include "experiments/errors.h"

namespace ablate::cli {

void add_data_flag(CLI::App& verb, std::string& folder) {
  verb.add_option("--data", folder, "Where relative data paths start; absent: the study's folder");
}

std::filesystem::path data_folder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    throw UsageError(
        fmt::format("--data: there is no folder {}{}", folder, config::without_tilde(folder)));
  return folder;
}

}  // namespace ablate::cli
