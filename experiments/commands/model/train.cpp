#include <iostream>
#include <memory>

#include "experiments/commands/model/model_commands.h"
#include "experiments/run/estimate_run.h"
#include "experiments/run/train_run.h"
#include "experiments/schedule/supervise.h"
#include "training/process/machine.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

struct TrainRequest {
  std::string folder;
  int64_t threads = 0;
  std::optional<int64_t> until;
  std::optional<int64_t> retries;
  bool dry_run = false;
};

void train(const TrainRequest& request) {
  const auto threads = request.threads > 0 ? request.threads : training::available_cores();
  if (request.retries)
    return schedule::supervise(
        std::filesystem::path(request.folder),
        {.threads = threads, .retries = *request.retries, .until = request.until}, std::cerr);
  auto job = run::job_of(std::filesystem::path(request.folder));
  job.threads = threads;
  job.until = request.until;
  if (!request.dry_run) return run::train_run(job, std::cerr);
  std::cout << training::to_json(run::estimate_run(job, std::cerr)).dump() << "\n";
}

}  // namespace

void add_train(CLI::App& app) {
  auto request = std::make_shared<TrainRequest>();
  auto* verb =
      app.add_subcommand("train", "Train and evaluate one run that 'ablate run' has planned");
  verb->add_option("run", request->folder, "The run folder")->required();
  verb->add_option("--threads", request->threads,
                   "Used where neither the configuration nor an earlier start names a number; "
                   "absent: one per core")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--until", request->until,
                   "Pause after this step: validate, and write rung-<step>.json")
      ->check(CLI::PositiveNumber);
  auto* retries =
      verb->add_option("--retries", request->retries,
                       "Train in a process of its own, start it again so many times where it "
                       "crashes or runs out of memory, and leave log.txt and failure.json as "
                       "'ablate run' does")
          ->check(CLI::Range(0, 100));
  verb->add_flag("--dry-run", request->dry_run,
                 "Print what the run will take, as one JSON object; train and write nothing")
      ->excludes(retries);
  verb->footer(
      "Works on config.yaml and run.json, which 'ablate run' writes into the folder of each run "
      "before it starts one. Continues where an earlier start stopped, and leaves a finished run "
      "alone.\n"
      "Examples:\n"
      "  ablate train runs/quickstart/numbers/sinusoidal/seed-1\n"
      "  ablate train runs/quickstart/numbers/sinusoidal/seed-1 --threads 2 --until 100");
  verb->callback([request] { train(*request); });
}

}  // namespace ablate::commands
