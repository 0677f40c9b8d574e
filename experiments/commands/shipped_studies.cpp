#include "experiments/commands/shipped_studies.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/commands/model/model_commands.h"
#include "experiments/config/problem.h"
#include "experiments/config/study.h"
#include "experiments/errors.h"

namespace ablate::commands {
namespace {

std::filesystem::path folder_of_studies() {
  const std::filesystem::path in_source = "experiments/studies";
  const auto places = shipped_places(in_source);
  for (const auto& folder : {places[0], in_source, places[1]})
    if (std::filesystem::is_directory(folder)) return folder;
  throw UsageError(
      fmt::format("no studies in {} nor in {}; name a study file, or write one with "
                  "ablate init",
                  in_source.string(), places[1].string()));
}

}  // namespace

std::vector<ShippedStudy> shipped_studies(std::ostream& messages) {
  std::vector<ShippedStudy> studies;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of_studies())) {
    if (entry.path().extension() != ".yaml") continue;
    try {
      const auto study = config::read_study(entry.path());
      studies.push_back({entry.path(), study.question, study.time});
    } catch (const config::ConfigError& error) {
      messages << "ablate: left out, since it is no valid study: " << error.what() << "\n";
    }
  }
  std::ranges::sort(studies, {}, &ShippedStudy::file);
  return studies;
}

std::string to_text(const std::vector<ShippedStudy>& studies) {
  std::string text;
  for (const auto& study : studies)
    text += fmt::format("{}\t{}\t{}\n", study.file.string(), study.question, study.time);
  return text;
}

}  // namespace ablate::commands
