#include "experiments/commands/run_flags.h"

#include <vector>

#include "experiments/commands/flags.h"
#include "experiments/commands/number_flags.h"

namespace ablate::commands {
namespace {

const std::vector<std::string> kChoosing{"study",  "--output", "--data",  "--set",
                                         "--arms", "--tasks",  "--sizes", "--seeds"};

void add_options(CLI::App& verb, RunRequest& request) {
  verb.add_option("study", request.study,
                  "The study's YAML file, or to continue it as it was started its folder, "
                  "<output>/<study>");
  verb.add_option("--output", request.output, "Folder of all runs")->capture_default_str();
  add_data_flag(verb, request.data);
  add_set_flag(verb, request.selection.sets);
  verb.add_option("--arms", request.selection.arms, "Only these arms, separated by commas")
      ->delimiter(',');
  verb.add_option("--tasks", request.selection.tasks, "Only these tasks, separated by commas")
      ->delimiter(',');
  verb.add_option("--sizes", request.selection.sizes, "Only these sizes, separated by commas")
      ->delimiter(',');
  verb.add_option("--seeds", request.selection.seeds, "These seeds instead of the study's")
      ->delimiter(',');
  verb.add_option(
          "--jobs", request.jobs,
          "Runs at a time, on a GPU as many of them as its memory holds; absent: one per core, or "
          "one if they train on a GPU")
      ->check(between(1, 1024));
  verb.add_option("--threads", request.threads,
                  "Threads of each run, if neither the configuration nor an earlier start names a "
                  "number; absent: the cores here divided by the runs, with a launcher 1")
      ->check(between(1, 1024));
  verb.add_option("--ranks", request.ranks,
                  "Processes that share the training of each run, a power of two that divides "
                  "training.accumulate")
      ->check(between(1, 1024))
      ->capture_default_str();
  verb.add_option("--retries", request.retries,
                  "Times a run that crashed or ran out of memory is started again")
      ->check(between(0, 100))
      ->capture_default_str();
  verb.add_flag(
      "--dry-run", request.dry_run,
      "List the runs with an estimate of their cost; do not train. With a launcher nothing "
      "is timed, as on the login node of a cluster, nor with ranks");
  verb.add_flag("--list", request.list,
                "List the runs and their state; without a study, the studies that ship");
  verb.add_flag("--json", request.json,
                "Print one JSON line per run, or per study that ships, instead of the table");
}

void add_until(CLI::App& verb, RunRequest& request) {
  auto* until =
      add_choice(verb, "--until", request.until,
                 "Add seeds, one after the other, until every comparison has its claim, in a "
                 "study with compare.test: e_value");
  verb.add_option("--at-most", request.at_most, "The most seeds of --until")
      ->needs(until)
      ->check(between(1, 1000))
      ->capture_default_str();
}

void add_launcher(CLI::App& verb, RunRequest& request) {
  auto* launcher = add_choice(verb, "--launcher", request.launcher,
                              "Who starts the runs: Slurm, as job arrays; or you, from one printed "
                              "command a line. Absent: this program, here");
  verb.add_option("--slurm", request.slurm, "Flags for sbatch, as they are")->needs(launcher);
  verb.add_option("--prologue", request.prologue,
                  "File of bash lines that every job of Slurm runs first, such as 'module load'; "
                  "they may set container=(apptainer exec IMAGE), which runs then start in")
      ->needs(launcher);
  verb.add_option("--grace", request.grace,
                  "Seconds before the end of a job's time at which its run saves and stops")
      ->needs(launcher)
      ->check(between(1, 86400))
      ->capture_default_str();
  verb.add_flag(
          "--wait", request.waits,
          "Watch the queue until the study is done, for clusters on which jobs may not submit jobs")
      ->needs(launcher);
}

}  // namespace

void add_run_flags(CLI::App& verb, RunRequest& request) {
  add_options(verb, request);
  add_until(verb, request);
  add_launcher(verb, request);
}

void check_run_flags(const CLI::App& verb, const RunRequest& request) {
  const auto check = [&](const std::string& name, const std::vector<std::string>& more) {
    auto reads = kChoosing;
    reads.insert(reads.end(), more.begin(), more.end());
    check_mode(verb, {name, reads});
  };
  if (request.list && request.study.empty())
    check_mode(verb, {"--list without a study", {"--list", "--json"}});
  else if (request.list)
    check("--list", {"--list", "--json"});
  else if (request.dry_run && (request.launcher || request.ranks > 1))
    check("--dry-run and a launcher or ranks, which times nothing",
          {"--dry-run", "--json", "--launcher", "--ranks"});
  else if (request.dry_run)
    check("--dry-run", {"--dry-run", "--json", "--jobs", "--threads", "--ranks"});
  else if (request.launcher && request.until)
    refuse_unread({"--until"}, "with a launcher");
  else if (request.launcher == Launcher::print)
    check("--launcher print", {"--launcher", "--retries", "--threads", "--ranks"});
}

}  // namespace ablate::commands
