#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/config/study.h"
#include "experiments/exit_code.h"
#include "experiments/process_pool.h"
#include "experiments/run_one.h"
#include "experiments/table.h"
#include "training/checkpoint/durable_file.h"
#include "training/trainer.h"

namespace ablate::experiments {
namespace {

struct Request {
  std::string study;
  std::string output = "runs";
  std::string data;
  Selection selection;
  int64_t jobs = 0;
  bool dry_run = false;
  bool list = false;
  bool json = false;
  bool worker = false;
  int64_t threads = 1;
};

std::string label(const RunSpecification& run) {
  return fmt::format("{}/{}/seed-{}", run.task, run.arm, run.seed);
}

/// The command line that runs one run in a process of its own.
Job job_of(const Request& request, const RunSpecification& run, int64_t threads) {
  std::vector<std::string> arguments{"/proc/self/exe", "run",
                                     request.study,    "--worker",
                                     "--output",       request.output,
                                     "--tasks",        run.task,
                                     "--arms",         run.arm,
                                     "--seeds",        std::to_string(run.seed),
                                     "--threads",      std::to_string(threads)};
  arguments[0] = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const auto& set : request.selection.sets) {
    arguments.emplace_back("--set");
    arguments.push_back(set);
  }
  if (!request.data.empty()) {
    arguments.emplace_back("--data");
    arguments.push_back(request.data);
  }
  return {arguments};
}

void work(const Request& request, const Study& study) {
  end_with_parent();
  for (const auto& run : study.runs)
    run_one(run,
            {.folder = run_folder(request.output, study.name, run),
             .data_folder = study.data_folder,
             .study = study.name,
             .threads = request.threads,
             .terminal = isatty(STDERR_FILENO) != 0 && request.jobs == 1},
            std::cerr);
}

std::vector<RunResult> finished_runs(const Request& request, const Study& study) {
  std::vector<RunResult> results;
  for (const auto& run : study.runs)
    if (auto result = read_result(run_folder(request.output, study.name, run)))
      results.push_back(std::move(*result));
  return results;
}

void write_results(const Request& request, const Study& study,
                   const std::vector<RunResult>& results) {
  std::string lines;
  for (const auto& result : results) lines += to_json(result).dump() + "\n";
  const auto folder = std::filesystem::path(request.output) / study.name;
  training::write_durably(folder / "results.jsonl", lines);
  training::write_durably(folder / "table.txt", table(results));
}

/// The most serious of what went wrong; an interruption only where nothing else did.
int worst(const std::vector<Job>& jobs) {
  int code = 0;
  for (const auto& job : jobs) {
    const int interrupted = static_cast<int>(ExitCode::interrupted);
    const int one = job.exit_code == -1 ? interrupted : job.exit_code;
    if (one != 0 && (code == 0 || code == interrupted)) code = one;
  }
  return code;
}

[[noreturn]] void fail(const std::vector<Job>& jobs,
                       const std::vector<const RunSpecification*>& open) {
  const int code = worst(jobs);
  if (code == static_cast<int>(ExitCode::interrupted))
    throw training::Interrupted("interrupted and saved; run the same command again to continue");
  std::string failed;
  for (size_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].exit_code > 0 && jobs[i].exit_code != static_cast<int>(ExitCode::interrupted))
      failed += fmt::format("{}{} (exit code {})", failed.empty() ? "" : ", ", label(*open[i]),
                            jobs[i].exit_code);
  throw RunsFailed(static_cast<ExitCode>(code), "runs that did not finish: " + failed);
}

void show_list(const Request& request, const Study& study) {
  for (const auto& run : study.runs) {
    const auto folder = run_folder(request.output, study.name, run);
    const bool finished = std::filesystem::exists(folder / "result.json");
    const bool started = std::filesystem::exists(folder / "config.yaml");
    std::cout << fmt::format("{}\t{}\t{}\n",
                             finished  ? "finished"
                             : started ? "started"
                                       : "new",
                             label(run), folder.string());
  }
}

/// 0: starts from no arm; 1: from one that starts from none; and so on.
std::map<std::pair<std::string, std::string>, int> waves(const Study& study) {
  std::map<std::pair<std::string, std::string>, int> wave;
  for (const auto& run : study.runs) {
    const auto& from = run.experiment.training.start.arm;
    const auto before = from ? wave.find({run.task, *from}) : wave.end();
    wave[{run.task, run.arm}] = before == wave.end() ? 0 : before->second + 1;
  }
  return wave;
}

/// Runs the jobs wave by wave: an arm starts when those that it starts from are finished.
void run_in_waves(std::vector<Job>& jobs, const std::vector<const RunSpecification*>& open,
                  const Study& study, int64_t parallel) {
  auto wave = waves(study);
  for (int number = 0, left = static_cast<int>(jobs.size()); left > 0; ++number) {
    std::vector<Job> now;
    std::vector<size_t> from;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (wave[{open[i]->task, open[i]->arm}] != number) continue;
      now.push_back(jobs[i]);
      from.push_back(i);
    }
    run_jobs(now, parallel);
    for (size_t i = 0; i < now.size(); ++i) jobs[from[i]] = now[i];
    left -= static_cast<int>(now.size());
    const auto interrupted = std::ranges::any_of(now, [](const Job& job) {
      return job.exit_code == -1 || job.exit_code == static_cast<int>(ExitCode::interrupted);
    });
    if (interrupted) return;
  }
}

void run_study(const Request& request, const Study& study) {
  std::vector<Job> jobs;
  std::vector<const RunSpecification*> open;
  const int64_t cores = available_cores();
  const int64_t parallel = request.jobs > 0
                               ? request.jobs
                               : std::min<int64_t>(cores, static_cast<int64_t>(study.runs.size()));
  const int64_t threads = std::max<int64_t>(1, cores / parallel);
  for (const auto& run : study.runs) {
    if (std::filesystem::exists(run_folder(request.output, study.name, run) / "result.json"))
      continue;
    jobs.push_back(job_of(request, run, threads));
    if (parallel == 1) {
      jobs.back().arguments.emplace_back("--jobs");
      jobs.back().arguments.emplace_back("1");
    }
    open.push_back(&run);
  }
  std::cerr << fmt::format("{}: {} runs, {} to do, {} at a time with {} thread{} each\n",
                           study.name, study.runs.size(), jobs.size(), parallel, threads,
                           threads == 1 ? "" : "s");
  run_in_waves(jobs, open, study, parallel);
  const auto results = finished_runs(request, study);
  if (!results.empty()) write_results(request, study, results);
  if (results.size() < study.runs.size()) fail(jobs, open);
  if (request.json) {
    for (const auto& result : results) std::cout << to_json(result).dump() << "\n";
  } else {
    if (!study.question.empty()) std::cout << study.question << "\n\n";
    std::cout << table(results);
  }
  std::cerr << fmt::format("results: {}\n",
                           (std::filesystem::path(request.output) / study.name).string());
}

void add_options(CLI::App& verb, Request& request) {
  verb.add_option("study", request.study, "The study's YAML file")->required();
  verb.add_option("--output", request.output, "Folder of all runs")->capture_default_str();
  verb.add_option("--data", request.data,
                  "Where relative data paths start; absent: the study's folder");
  verb.add_option("--set", request.selection.sets, "key.path=value, below base")
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--arms", request.selection.arms, "Only these arms, separated by commas")
      ->delimiter(',');
  verb.add_option("--tasks", request.selection.tasks, "Only these tasks, separated by commas")
      ->delimiter(',');
  verb.add_option("--seeds", request.selection.seeds, "These seeds instead of the study's")
      ->delimiter(',');
  verb.add_option("--jobs", request.jobs, "Runs at a time; absent: one per core")
      ->check(CLI::Range(1, 1024));
  verb.add_flag("--dry-run", request.dry_run, "Check everything and list the runs; train nothing");
  verb.add_flag("--list", request.list, "List the runs and their state");
  verb.add_flag("--json", request.json, "Print one JSON line per run instead of the table");
  verb.add_flag("--worker", request.worker)->group("");
  verb.add_option("--threads", request.threads)->group("");
}

}  // namespace

void add_run(CLI::App& app) {
  auto request = std::make_shared<Request>();
  auto* verb = app.add_subcommand("run", "Train and evaluate every arm and seed of a study");
  add_options(*verb, *request);
  verb->footer(
      "Finished runs are skipped and interrupted ones continued, so the same command may be "
      "repeated.\n"
      "Examples:\n"
      "  ablate run experiments/studies/quickstart.yaml\n"
      "  ablate run study.yaml --set training.steps=200 --arms learned --seeds 1,2 --jobs 2\n"
      "  ablate run study.yaml --dry-run");
  verb->callback([request] {
    if (!request->data.empty()) request->selection.data_folder = request->data;
    const auto study = read_study(request->study, request->selection);
    if (request->worker) return work(*request, study);
    if (request->list || request->dry_run) return show_list(*request, study);
    run_study(*request, study);
  });
}

}  // namespace ablate::experiments
