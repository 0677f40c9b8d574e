#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/expectation.h"
#include "experiments/analysis/make_evidence.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/flags.h"
#include "experiments/commands/position_pictures.h"
#include "experiments/commands/run_flags.h"
#include "experiments/config/study/study.h"
#include "experiments/errors.h"
#include "experiments/exchange/pack.h"
#include "experiments/records/failure.h"
#include "experiments/records/frozen_study.h"
#include "experiments/records/registration.h"
#include "experiments/records/result.h"
#include "experiments/records/tuned_arms.h"
#include "experiments/report/table/layout.h"
#include "experiments/report/write_report.h"
#include "experiments/run/choices.h"
#include "experiments/run/model_cost.h"
#include "experiments/schedule/dry_run.h"
#include "experiments/schedule/launch_study.h"
#include "experiments/schedule/run_study.h"
#include "experiments/schedule/tuning.h"
#include "training/device.h"
#include "training/process/interrupt.h"
#include "training/storage/finite_json.h"

namespace ablate::commands {
namespace {

void show_list(const RunRequest& request, const config::Study& study) {
  const auto folder = records::study_folder(request.output, study.name);
  auto runs = records::open_trials(study, folder);
  std::ranges::copy(study.runs, std::back_inserter(runs));
  for (const auto& run : runs) {
    const auto place = folder.run(run);
    const auto state = records::state_of(run, folder), label = records::label(run);
    if (request.json)
      std::cout << nlohmann::json{{"run", label},
                                  {"state", state},
                                  {"folder", place.path.string()},
                                  {"study", folder.path.string()}}
                << "\n";
    else
      std::cout << fmt::format("{}\t{}\t{}\n", state, label, place.path.string());
  }
}

void show_shipped(bool json) {
  const auto studies = shipped_studies(std::cerr);
  if (!json) {
    std::cout << to_text(studies);
    return;
  }
  for (const auto& study : studies)
    std::cout << nlohmann::json{{"study", study.file.string()},
                                {"question", study.question},
                                {"time", study.time}}
              << "\n";
}

void print_results(const RunRequest& request, const records::StudyRuns& runs,
                   const analysis::Evidence& evidence) {
  if (request.json)
    for (const auto& result : runs.results) std::cout << training::to_json(result).dump() << "\n";
  else
    std::cout << report::terminal_table(evidence);
  std::cerr << fmt::format("results: {}\nreport: {}\n", runs.folder.path.string(),
                           runs.folder.report().string());
}

schedule::StudyOptions study_options(const RunRequest& request, const config::Study& study) {
  return {.folder = records::study_folder(request.output, study.name),
          .jobs = request.jobs,
          .threads = request.threads,
          .ranks = request.ranks,
          .retries = request.retries,
          .has_gpu = training::gpu_count() > 0};
}

/// The command line of this program, by which the job that closes a wave continues.
std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (!words.empty()) words.erase(words.begin());  // the program
  return words;
}

schedule::Launch launch_of(const RunRequest& request, const config::Study& study) {
  const auto folder = records::study_folder(request.output, study.name);
  return {.folder = std::filesystem::weakly_canonical(folder.path),
          .program = std::filesystem::read_symlink("/proc/self/exe"),
          .flags = schedule::slurm::flags_in(request.slurm),
          .prologue = request.prologue.empty() ? "" : schedule::read_prologue(request.prologue),
          .repeat = own_words(),
          .jobs = request.jobs,
          .worker = {.threads = request.threads.value_or(1), .ranks = request.ranks},
          .retries = request.retries,
          .grace = request.grace,
          .waits = request.waits};
}

void print_commands(const RunRequest& request, const config::Study& study) {
  const auto launch = launch_of(request, study);
  const auto runs = schedule::next_wave(study, launch.folder, request.retries);
  for (const auto& line : schedule::commands_for(study, runs, launch)) std::cout << line << "\n";
  for (const auto& failed : schedule::outcome_of(study, launch.folder).failed) {
    const auto same = [&](const auto& run) { return records::label(run) == failed.label; };
    if (!failed.why.empty())
      std::cerr << fmt::format("{} is left out: {}\n", failed.label, failed.why);
    else if (std::ranges::none_of(runs, same))
      std::cerr << fmt::format(
          "{} is left out, since it has failed with exit code {}; remove failure.json from its "
          "folder to have it tried again\n",
          failed.label, failed.exit_code);
  }
}

/// nullopt if the study goes on elsewhere.
std::optional<schedule::StudyOutcome> carry_out(const RunRequest& request,
                                                const config::Study& study) {
  if (request.launcher) return schedule::launch_study(study, launch_of(request, study), std::cerr);
  const training::StopRequests requests;
  return schedule::run_with_tuning(study, study_options(request, study));
}

/// The findings on a study's runs.
struct Findings {
  config::Study study;
  records::StudyRuns runs;
  analysis::Evidence evidence;
};

Findings findings(config::Study study, const records::StudyFolder& folder) {
  auto runs = records::read_runs(study, folder);
  auto evidence = analysis::make_evidence(study, runs);
  return {std::move(study), std::move(runs), std::move(evidence)};
}

/// The findings on selected runs, which are no more confirmatory than those on the whole study.
Findings selected_findings(config::Study study, const records::StudyFolder& folder,
                           const analysis::Evidence& whole) {
  auto selected = findings(std::move(study), folder);
  if (!whole.confirmatory) {
    selected.evidence.confirmatory = false;
    selected.evidence.standing = whole.standing;
  }
  return selected;
}

bool selects(const config::Selection& selection) {
  return !selection.arms.empty() || !selection.tasks.empty() || !selection.sizes.empty() ||
         !selection.seeds.empty();
}

/// The results after one start of the study, and how its runs ended.
struct Look {
  Findings shown;
  schedule::StudyOutcome outcome;

  bool is_complete() const { return outcome.failed.empty() && !outcome.interrupted; }
};

/// Says before the first run that a registered study will be exploratory all the same.
void warn_of_standing(const records::StudyFolder& folder) {
  const auto standing = records::standing_of({.folder = folder, .results = {}, .missing = {}});
  if (!standing.registered.empty() && !standing.exploratory.empty())
    std::cerr << fmt::format("note: results will be exploratory: {}\n", standing.exploratory);
}

/// Finishes the runs of the study and writes its report; absent if it goes on elsewhere.
std::optional<Look> look(const RunRequest& request) {
  const auto study = records::freeze(request.study, request.selection, request.output);
  for (const auto& note : study.notes) std::cerr << "note: " + note + "\n";
  warn_of_standing(records::study_folder(request.output, study.name));
  const auto outcome = carry_out(request, study);
  if (!outcome) return {};
  const auto folder = records::study_folder(request.output, study.name);
  // The files always cover the whole study; the printed table covers the selection.
  auto shown = findings(records::read_frozen(folder, run::counted_parameters()), folder);
  if (!shown.runs.results.empty())
    report::write_report(shown.study, shown.runs, shown.evidence, position_pictures(shown.study));
  if (selects(request.selection))
    shown = selected_findings(records::with_best_values(study, folder), folder, shown.evidence);
  return Look{std::move(shown), *outcome};
}

/// Adds a seed after each look, until every comparison is decided.
std::optional<Look> look_until_decided(RunRequest request) {
  auto last = look(request);
  while (last && last->is_complete() && !analysis::is_decided(last->shown.evidence) &&
         std::ssize(last->shown.study.seeds) < request.at_most) {
    auto& seeds = request.selection.seeds;
    seeds = last->shown.study.seeds;
    seeds.push_back(std::ranges::max(seeds) + 1);
    std::cerr << fmt::format("not decided yet; adding seed {}\n", seeds.back());
    last = look(request);
  }
  return last;
}

void run_study(const RunRequest& request, const config::Study& study) {
  if (request.launcher == Launcher::print)
    return print_commands(request,
                          records::freeze(request.study, request.selection, request.output));
  if (request.until && !study.looks_often())
    throw UsageError(
        "--until decided looks at the results after every seed; declare compare.test: e_value, "
        "whose claims hold at every look");
  const auto last = request.until ? look_until_decided(request) : look(request);
  if (!last) return;
  const auto& shown = last->shown;
  if (!shown.runs.results.empty()) print_results(request, shown.runs, shown.evidence);
  schedule::raise(last->outcome);
  analysis::raise_failed(shown.evidence.expectations);
}

/// Continues the study in a folder as it was started; another selection may be given.
void take_folder(const CLI::App& verb, RunRequest& request) {
  std::vector<std::string> unread;
  for (const char* fixed : {"--output", "--data", "--set"})
    if (verb.get_option(fixed)->count() > 0) unread.emplace_back(fixed);
  refuse_unread(unread, "on the folder of a study that was started");
  const auto folder = records::named_study(request.study);
  exchange::complete(folder.path, folder.path);
  const auto name = records::read_frozen(folder, run::counted_parameters()).name;
  if (folder.path.filename() != name)
    throw UsageError(fmt::format("{} holds the study {}; give the folder its name again",
                                 folder.path.string(), name));
  auto frozen = records::frozen_selection(folder);
  const auto& given = request.selection;
  if (!given.arms.empty()) frozen.arms = given.arms;
  if (!given.tasks.empty()) frozen.tasks = given.tasks;
  if (!given.sizes.empty()) frozen.sizes = given.sizes;
  if (!given.seeds.empty()) frozen.seeds = given.seeds;
  request.selection = std::move(frozen);
  request.study = folder.study();
  request.output = folder.path.parent_path();
}

/// Which look at its question the study of `file` is; 0: it is not registered, or has changed.
int64_t registered_look(const std::filesystem::path& file, const config::Study& study) {
  const auto lock = records::read_lock(records::lock_of(file));
  return lock && lock->study_sha256 == records::declared_sha256(study, study.seeds) ? lock->look
                                                                                    : 0;
}

}  // namespace

void add_run(CLI::App& app) {
  auto request = std::make_shared<RunRequest>();
  auto* verb = app.add_subcommand("run", "Train and evaluate every arm and seed of a study");
  add_run_flags(*verb, *request);
  verb->footer(
      "Finished runs are skipped and interrupted or failed ones continued, so the same command may "
      "be repeated. The study is frozen when it starts: runs follow <output>/<study>/study.yaml, "
      "to which only tasks, sizes, values of the grid, arms and seeds may be added later.\n"
      "Examples:\n  ablate run experiments/studies/quickstart.yaml\n"
      "  ablate run study.yaml --set training.steps=200 --arms none --seeds 1,2 --jobs 2\n"
      "  ablate run study.yaml --dry-run\n"
      "  ablate run study.yaml --launcher slurm --slurm '--partition=gpu --time=4:00:00' --jobs 8\n"
      "  ablate run --list");
  verb->callback([request, verb] {
    check_run_flags(*verb, *request);
    if (request->study.empty()) {
      if (!request->list)
        throw UsageError("run needs a study; ablate run --list shows those that ship");
      return show_shipped(request->json);
    }
    if (request->study.ends_with(".zip"))
      throw UsageError(
          fmt::format("{} is a packed study, which is without checkpoints; ablate report reads it",
                      request->study));
    if (std::filesystem::is_directory(request->study)) take_folder(*verb, *request);
    if (!request->data.empty()) request->selection.data_folder = data_folder(request->data);
    request->selection.count = run::counted_parameters();
    request->selection.parts = run::check_parts;
    auto planned = request->selection;
    // A launcher's prologue may bring the data before a job reads it.
    planned.with_files = !request->list && !request->launcher;
    const auto study = records::planned(request->study, planned, request->output);
    if (request->list) return show_list(*request, study);
    run::check_choices(study);
    if (!request->dry_run) return run_study(*request, study);
    // One process takes another time and other memory than those that share a run.
    const bool timed = !request->launcher && request->ranks == 1;
    schedule::dry_run(study, study_options(*request, study),
                      {.json = request->json, .timed = timed});
    if (!request->json) print_power(study, registered_look(request->study, study), std::cout);
  });
}

}  // namespace ablate::commands
