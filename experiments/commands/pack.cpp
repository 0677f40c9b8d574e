#include "experiments/exchange/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/records/failure.h"
#include "experiments/records/frozen_study.h"
#include "experiments/run/model_cost.h"

namespace ablate::commands {
namespace {

struct PackRequest {
  std::string folder;
  std::string to;
};

/// Says on standard error if runs of the study are not finished.
void warn_of_unfinished(const records::StudyFolder& folder) {
  const auto study = records::read_frozen(folder, run::counted_parameters());
  const auto finished = std::ranges::count_if(study.runs, [&](const auto& run) {
    return records::state_of(folder.run(run)) == "finished";
  });
  const auto open = std::ssize(study.runs) - finished;
  if (open > 0)
    std::cerr << fmt::format(
        "warning: {} of the study's {} runs are finished and {} are not; the pack holds what there "
        "is so far\n",
        finished, study.runs.size(), open);
}

void pack_study(const PackRequest& request) {
  const auto folder = records::named_study(request.folder);
  const auto file = request.to.empty() ? std::filesystem::path(folder.path.string() + ".zip")
                                       : std::filesystem::path(request.to);
  warn_of_unfinished(folder);
  exchange::pack(folder, file);
  std::cout << file.string() << "\n";
}

}  // namespace

void add_pack(CLI::App& app) {
  auto request = std::make_shared<PackRequest>();
  auto* verb = app.add_subcommand("pack", "Put a study's records and report into one file");
  verb->add_option("folder", request->folder, "The study's file, or its folder: <output>/<study>")
      ->required();
  verb->add_option("--to", request->to, "The file; default: the folder's name and .zip");
  verb->footer(
      "The file holds the study, the results, curves, configurations and outputs of its runs, and "
      "the report, but no checkpoints. 'ablate report', 'ablate status' and 'ablate power' read it "
      "as they read the folder; unzip makes it a folder of that name again. Runs that are not "
      "finished are packed as they are, with a warning.\n"
      "Examples:\n"
      "  ablate pack runs/quickstart\n"
      "  ablate report runs/quickstart.zip");
  verb->callback([request] { pack_study(*request); });
}

}  // namespace ablate::commands
