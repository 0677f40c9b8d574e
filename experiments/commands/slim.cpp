#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/errors.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/result.h"
#include "experiments/run/model_cost.h"
#include "training/checkpoint/checkpoint.h"
#include "training/process/folder_claim.h"
#include "training/weights.h"

namespace ablate::commands {
namespace {

namespace fs = std::filesystem;

/// What was left out of the checkpoints of some runs.
struct Saving {
  int64_t runs = 0, unfinished = 0;
  uint64_t bytes = 0;
};

uint64_t size_of(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

/// Leaves the optimizer's state out of every checkpoint of the run; false if none had any.
bool slim_run(const records::RunFolder& folder) {
  const training::FolderClaim claim(folder.path);
  bool smaller = false;
  for (const auto& found : training::list_checkpoints(folder.checkpoints())) {
    auto checkpoint = training::load_checkpoint(found.path);
    const auto before = checkpoint.optimizer.size();
    training::keep_ema(checkpoint.optimizer);
    if (checkpoint.optimizer.size() == before) continue;
    claim.check();
    training::save_checkpoint(folder.checkpoints(), checkpoint);
    smaller = true;
  }
  return smaller;
}

Saving slim(const records::StudyFolder& folder) {
  const auto study = records::read_frozen(folder, run::counted_parameters());
  Saving saving;
  for (const auto& run : study.runs) {
    const auto place = folder.run(run);
    if (!records::read_result(place)) {
      ++saving.unfinished;
      continue;
    }
    if (!fs::exists(place.checkpoints())) continue;
    const auto before = size_of(place.checkpoints());
    if (slim_run(place)) ++saving.runs;
    saving.bytes += before - size_of(place.checkpoints());
  }
  return saving;
}

void slim_study(const std::string& name) {
  const auto saving = slim(records::named_study(name));
  std::cout << fmt::format("{} run{} {:.1f} MB smaller", saving.runs,
                           saving.runs == 1 ? " is" : "s are",
                           static_cast<double>(saving.bytes) / 1e6);
  if (saving.unfinished > 0)
    std::cout << fmt::format("; {} that {} not finished {}", saving.unfinished,
                             saving.unfinished == 1 ? "has" : "have",
                             saving.unfinished == 1 ? "stays as it is" : "stay as they are");
  std::cout << "\n";
}

}  // namespace

void add_slim(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  auto* verb = app.add_subcommand("slim", "Leave the optimizer out of a study's finished runs");
  verb->add_option("folder", *folder, "The study's file, or its folder: <output>/<study>")
      ->required();
  verb->footer(
      "The checkpoints of a finished run keep all weights, averages among them, so that reports, "
      "evaluation, export and runs that start from it are as before; with Adam they are a third "
      "of their size. Only the training of such a run cannot be continued any more.\n"
      "Example:\n"
      "  ablate slim runs/quickstart");
  verb->callback([folder] { slim_study(*folder); });
}

}  // namespace ablate::commands
