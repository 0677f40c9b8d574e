#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/commands/number_flags.h"
#include "experiments/errors.h"
#include "experiments/run/run_estimate.h"
#include "experiments/run/train_run.h"
#include "experiments/schedule/process_pool.h"
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
  bool untimed = false;
};

/// The place of this process among the ranks, if another program started them.
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
  const auto estimate = request.untimed ? run::count_run(job) : run::estimate_run(job, std::cerr);
  std::cout << training::to_json(estimate).dump() << "\n";
}

}  // namespace

void add_train(CLI::App& app) {
  auto request = std::make_shared<TrainRequest>();
  auto* verb =
      app.add_subcommand("train", "Train and evaluate one run that 'ablate run' has planned");
  verb->add_option("run", request->folder, "The run folder")->required();
  verb->add_option("--threads", request->threads,
                   "Threads, if neither the configuration nor an earlier start names a number; "
                   "absent: one per core")
      ->check(between(1, 1024));
  auto* ranks = verb->add_option("--ranks", request->ranks,
                                 "Processes that share the training, a power of two that divides "
                                 "training.accumulate; srun or torchrun may have started them")
                    ->check(between(1, 1024))
                    ->capture_default_str();
  verb->add_option("--rank-timeout", request->rank_timeout,
                   "Seconds after which a rank that does not answer is lost")
      ->needs(ranks)
      ->check(between(1, 86400))
      ->capture_default_str();
  auto* retries =
      verb->add_option(
              "--retries", request->retries,
              "Train in a child process, restart it up to this many times if it crashes or runs "
              "out of memory, and leave log.txt and failure.json as 'ablate run' does")
          ->check(between(0, 100));
  auto* dry_run =
      verb->add_flag(
              "--dry-run", request->dry_run,
              "Print an estimate of the run's cost as one JSON object; do not train or write files")
          ->excludes(retries)
          ->excludes(ranks);
  verb->add_flag("--untimed", request->untimed, "Count, and time nothing")->needs(dry_run);
  verb->footer(
      "Works on config.yaml and run.json, which 'ablate run' writes into the folder of each run "
      "before it starts one. Continues where an earlier start stopped, and does not change a "
      "finished run.\nExamples:\n  ablate train runs/quickstart/reverse/sinusoidal/seed-1\n  "
      "ablate train runs/quickstart/reverse/sinusoidal/seed-1 --threads 2");
  verb->callback([request] { train(*request); });
}

}  // namespace ablate::commands
