#include <iostream>
#include <memory>

#include "experiments/commands/model/model_commands.h"
#include "experiments/errors.h"
#include "experiments/run/estimate_run.h"
#include "experiments/run/train_run.h"
#include "experiments/schedule/supervise.h"
#include "experiments/schedule/worker.h"
#include "training/process/machine.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

struct TrainRequest {
  std::string folder;
  int64_t threads = 0;
  std::optional<int64_t> retries;
  int64_t ranks = 1;
  int64_t rank_timeout = training::kRankTimeout.count();
  bool dry_run = false;
};

/// Of this process among the ranks, where another program started them.
std::optional<training::RankPlace> place_of(const TrainRequest& request) {
  if (request.ranks == 1) return {};
  try {
    auto place = training::place_of_this_process(request.ranks);
    if (place) place->timeout = std::chrono::seconds(request.rank_timeout);
    return place;
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

void train(const TrainRequest& request) {
  const schedule::Worker worker{
      .threads = request.threads > 0
                     ? request.threads
                     : std::max<int64_t>(1, training::available_cores() / request.ranks),
      .ranks = request.ranks,
      .rank_timeout = std::chrono::seconds(request.rank_timeout)};
  const auto place = place_of(request);
  const bool first = !place || place->rank == 0;
  if (request.retries && first)
    return schedule::supervise(std::filesystem::path(request.folder), worker, *request.retries,
                               std::cerr);
  auto job = run::job_of(std::filesystem::path(request.folder));
  schedule::check_ranks(job.experiment, request.ranks);
  job.threads = worker.threads;
  job.ranks = request.ranks;
  job.place = place;
  job.rank_timeout = worker.rank_timeout;
  job.rank_command = schedule::train_command(job.folder, worker);
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
  verb->add_option("--ranks", request->ranks,
                   "Processes that share the training, a power of two that divides "
                   "training.accumulate; srun or torchrun may have started them")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb->add_option("--rank-timeout", request->rank_timeout,
                   "Seconds after which a rank that gives no answer is lost")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
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
      "  ablate train runs/quickstart/numbers/sinusoidal/seed-1 --threads 2");
  verb->callback([request] { train(*request); });
}

}  // namespace ablate::commands
