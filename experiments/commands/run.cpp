#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "experiments/commands/commands.h"
#include "experiments/commands/shell_completion.h"
#include "experiments/config/study.h"
#include "experiments/dry_run.h"
#include "experiments/evidence/expectation.h"
#include "experiments/evidence/make_evidence.h"
#include "experiments/exit_code.h"
#include "experiments/frozen_study.h"
#include "experiments/run_estimate.h"
#include "experiments/run_failure.h"
#include "experiments/run_one.h"
#include "experiments/run_study.h"
#include "experiments/shipped_studies.h"
#include "experiments/study_tables.h"
#include "experiments/table/table.h"
#include "experiments/tuning.h"
#include "experiments/write_report.h"
#include "training/checkpoint/finite_json.h"
#include "training/interrupt.h"

namespace ablate::experiments {
namespace {

struct RunRequest {
  std::string study;
  std::string output = "runs";
  std::string data;
  Selection selection;
  int64_t jobs = 0;
  int64_t retries = 1;
  bool dry_run = false;
  bool list = false;
  bool json = false;
  bool worker = false;
  bool estimate = false;
  std::optional<int64_t> pause_after;
  int64_t threads = 1;
};

/// The command line that does one run in a process of its own, but for which run. Its program is
/// this very one, even where a rebuild has put another in its place.
std::vector<std::string> worker_command(const RunRequest& request, const Study& study) {
  std::vector<std::string> command{
      "/proc/self/exe",
      "run",
      study.file.string(),
      "--worker",
      "--output",
      request.output,
      "--data",
      std::filesystem::absolute(study.data_folder / ".").lexically_normal().string()};
  for (const auto& set : request.selection.sets) {
    command.emplace_back("--set");
    command.push_back(set);
  }
  return command;
}

void work(const RunRequest& request, const Study& study) {
  for (const auto& run : study.runs) {
    const RunPlace place{.folder = study_folder(request.output, study.name).run(run),
                         .data_folder = study.data_folder,
                         .study = study.name,
                         .threads = request.threads,
                         .pause_after = request.pause_after};
    if (request.estimate)
      std::cout << training::to_json(estimate_run(run, place, std::cerr)).dump() << "\n";
    else
      run_one(run, place, std::cerr);
  }
}

void show_list(const RunRequest& request, const Study& study) {
  const auto folder = study_folder(request.output, study.name);
  for (const auto& run : with_tuned_arms(study, folder).runs) {
    const auto place = folder.run(run);
    std::cout << fmt::format("{}\t{}\t{}\n", state_of(place), label(run), place.path.string());
  }
}

void print_results(const RunRequest& request, const StudyRuns& runs, const Evidence& evidence) {
  if (request.json)
    for (const auto& result : runs.results) std::cout << training::to_json(result).dump() << "\n";
  else
    std::cout << terminal_table(evidence);
  std::cerr << fmt::format("results: {}\nreport: {}\n", runs.folder.path.string(),
                           runs.folder.report().string());
}

StudyOptions study_options(const RunRequest& request, const Study& study) {
  return {.folder = study_folder(request.output, study.name),
          .command = worker_command(request, study),
          .jobs = request.jobs,
          .retries = request.retries};
}

StudyOutcome carry_out(const Study& study, const StudyOptions& options) {
  const training::StopRequests requests;
  return run_with_tuning(study, options);
}

void run(const RunRequest& request) {
  const auto study = freeze(request.study, request.selection, request.output);
  const auto options = study_options(request, study);
  const auto outcome = carry_out(study, options);
  const auto shown = with_tuned_arms(study, options.folder);
  const auto runs = read_runs(shown, options.folder);
  const auto evidence = make_evidence(shown, runs);
  if (!runs.results.empty()) {
    write_tables(evidence, runs);
    write_report(shown, evidence, runs.folder);
    print_results(request, runs, evidence);
  }
  raise(outcome);
  raise_failed(evidence.expectations);
}

void add_options(CLI::App& verb, RunRequest& request) {
  verb.add_option("study", request.study, "The study's YAML file");
  verb.add_option("--output", request.output, "Folder of all runs")->capture_default_str();
  verb.add_option("--data", request.data,
                  "Where relative data paths start; absent: the study's folder");
  verb.add_option("--set", request.selection.sets, "key.path=value, below base")
      ->type_name(kKeyAndValue)
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--arms", request.selection.arms, "Only these arms, separated by commas")
      ->delimiter(',');
  verb.add_option("--tasks", request.selection.tasks, "Only these tasks, separated by commas")
      ->delimiter(',');
  verb.add_option("--seeds", request.selection.seeds, "These seeds instead of the study's")
      ->delimiter(',');
  verb.add_option("--jobs", request.jobs,
                  "Runs at a time; absent: one per core, or one where they train on a GPU")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--retries", request.retries,
                  "Times a run that crashed or ran out of memory is started again")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  verb.add_flag("--dry-run", request.dry_run,
                "List the runs with what each will take; train nothing");
  verb.add_flag("--list", request.list,
                "List the runs and their state; without a study, the studies that ship");
  verb.add_flag("--json", request.json, "Print one JSON line per run instead of the table");
  // What a study tells the processes that do its runs.
  verb.add_flag("--worker", request.worker)->group("");
  verb.add_flag("--estimate", request.estimate)->group("");
  verb.add_option("--threads", request.threads)->group("");
  verb.add_option("--pause-after", request.pause_after)->group("");
}

}  // namespace

void add_run(CLI::App& app) {
  auto request = std::make_shared<RunRequest>();
  auto* verb = app.add_subcommand("run", "Train and evaluate every arm and seed of a study");
  add_options(*verb, *request);
  verb->footer(
      "Finished runs are skipped and interrupted or failed ones continued, so the same command may "
      "be repeated. The study is frozen when it starts: <output>/<study>/study.yaml is what runs, "
      "and later only tasks, arms and seeds may be added.\n"
      "Examples:\n"
      "  ablate run experiments/studies/quickstart.yaml\n"
      "  ablate run study.yaml --set training.steps=200 --arms learned --seeds 1,2 --jobs 2\n"
      "  ablate run study.yaml --dry-run\n"
      "  ablate run --list");
  verb->callback([request] {
    if (request->study.empty()) {
      if (!request->list)
        throw UsageError("run needs a study; ablate run --list shows those that ship");
      std::cout << to_text(shipped_studies(std::cerr));
      return;
    }
    if (!request->data.empty()) request->selection.data_folder = request->data;
    if (!request->worker && !request->list && !request->dry_run) return run(*request);
    if (request->worker) return work(*request, read_study(request->study, request->selection));
    const auto study = planned(request->study, request->selection, request->output);
    if (request->list) return show_list(*request, study);
    dry_run(study, study_options(*request, study), request->json);
  });
}

}  // namespace ablate::experiments
