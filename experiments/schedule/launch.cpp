#include "experiments/schedule/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "tokenizer/text/digest.h"
#include "training/process/machine.h"
#include "training/storage/durable_file.h"

namespace ablate::schedule {
namespace {

namespace fs = std::filesystem;

// Slurm asks the step to stop, so the shell only has to outlive its own request; wait returns once
// for that and once for the end. A job that saved its run is requeued only if Slurm still runs it
// or ends it for its time limit; otherwise a cancelled job would come back.
constexpr std::string_view kJobScript = R"(#!/bin/bash
container=()
{prologue}line=$((SLURM_ARRAY_TASK_ID + $1 + 1))
run=$(sed -n "${{line}}p" {runs})
id=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID
trap : TERM
export MASTER_ADDR=$(hostname)
export MASTER_PORT=$((20000 + (SLURM_JOB_ID * 7 + ${{SLURM_RESTART_COUNT:-0}}) % 20000))
srun --kill-on-bad-exit=1 --ntasks={ranks} --cpus-per-task={threads} \
  "${{container[@]}}" {program} train "$run" --threads {threads} --ranks {ranks} --retries {retries} &
child=$!
while wait $child; code=$?; kill -0 $child 2>/dev/null; do :; done
[ $code = 75 ] || exit $code
for pause in 1 2 4 8 16; do
  state=$(squeue --noheader --jobs="$id" --format=%T:%r) && break
  sleep $pause
done
echo "saved before its end; restart ${{SLURM_RESTART_COUNT:-0}}, state ${{state:-unknown}}"
if [[ $state = RUNNING:* || $state = *:TimeLimit ]] &&
   [ ${{SLURM_RESTART_COUNT:-0}} -lt {restarts} ]; then
  scontrol requeue "$id" && sleep 60
elif [ -n "$state" ]; then
  touch {cancelled}$line
fi
exit 75
)";

constexpr std::string_view kClosingScript = "#!/bin/bash\n{}cd {} && exec {}\n";

constexpr int kMostRestarts = 50;
constexpr size_t kDigestDigits = 8;
constexpr int kKilled = 128 + 9;

/// Quotes a word for a shell.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string quoted(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const auto& word : words) all.push_back(quoted(word));
  return fmt::format("{}", fmt::join(all, " "));
}

void write_script(const fs::path& file, const std::string& text) {
  training::write_durably(file, text);
  fs::permissions(file, fs::perms::owner_exec, fs::perm_options::add);
}

std::string job_script(const records::WaveFolder& wave, const Launch& launch) {
  return fmt::format(kJobScript, fmt::arg("prologue", launch.prologue),
                     fmt::arg("runs", quoted(wave.runs().string())),
                     fmt::arg("cancelled", quoted(wave.cancelled("").string())),
                     fmt::arg("program", quoted(launch.program.string())),
                     fmt::arg("threads", launch.worker.threads),
                     fmt::arg("ranks", launch.worker.ranks), fmt::arg("retries", launch.retries),
                     fmt::arg("restarts", kMostRestarts));
}

std::string name_of(int64_t number, const Launch& launch) {
  return fmt::format("{}{}", job_prefix(launch.folder), number);
}

std::vector<std::string> with(std::vector<std::string> flags, std::vector<std::string> more) {
  std::ranges::move(more, std::back_inserter(flags));
  return flags;
}

/// A folder that no other process makes at the same time.
records::WaveFolder make_wave(int64_t number, const Launch& launch) {
  auto wave = launch.folder.wave(number);
  training::create_folder(wave.path.parent_path());
  if (!fs::create_directory(wave.path))
    throw UsageError(launch.folder.path.string() +
                     " is being submitted by another process at this moment");
  return wave;
}

void plan(const config::Study& study, const std::vector<config::RunSpecification>& runs,
          const Launch& launch) {
  for (const auto& run : runs) check_ranks(run.experiment, launch.worker.ranks);
  for (const auto& run : runs) records::write_plan(launch.folder.run(run), study, run);
}

/// Array after array, so that an array that is longer than Slurm allows becomes several. If the
/// number of runs at a time is limited, each waits for the one before.
records::WaveJobs submit_arrays(int64_t number, int64_t count, const Launch& launch) {
  const auto wave = launch.folder.wave(number);
  records::WaveJobs jobs{.program_sha256 = training::program_sha256()};
  const auto most = slurm::most_tasks();
  for (int64_t first = 0; first < count; first += most) {
    const auto tasks = std::min(most, count - first);
    const auto limit = launch.jobs > 0 ? fmt::format("%{}", launch.jobs) : "";
    std::vector<std::string> flags{fmt::format("--array=0-{}{}", tasks - 1, limit),
                                   fmt::format("--output={}", wave.output("%A", "%a").string()),
                                   fmt::format("--ntasks={}", launch.worker.ranks),
                                   fmt::format("--cpus-per-task={}", launch.worker.threads),
                                   fmt::format("--signal=TERM@{}", launch.grace),
                                   "--requeue",
                                   "--open-mode=append"};
    if (launch.jobs > 0 && !jobs.arrays.empty())
      flags.push_back("--dependency=afterany:" + jobs.arrays.back().job);
    jobs.arrays.push_back(
        {.job = slurm::submit({.flags = with(launch.flags, flags),
                               .name = fmt::format("{}.{}", name_of(number, launch), first),
                               .script = {wave.job_script().string(), std::to_string(first)}}),
         .first = first,
         .tasks = tasks});
    records::write_wave_jobs(wave, jobs);
  }
  return jobs;
}

/// Without the flags that are about GPUs: no flag undoes all of them. Each has a value, in its word
/// or as the next one.
std::vector<std::string> without_gpus(const std::vector<std::string>& flags) {
  std::vector<std::string> others;
  for (auto flag = flags.begin(); flag != flags.end(); ++flag) {
    const auto name = flag->substr(0, flag->find('='));
    const bool is_long = name.starts_with("--") &&
                         (name.find("gpu") != std::string::npos || name.starts_with("--gres"));
    if (!is_long && !name.starts_with("-G"))
      others.push_back(*flag);
    else if ((is_long ? name == *flag : name == "-G") && std::next(flag) != flags.end())
      ++flag;
  }
  return others;
}

std::string submit_closing(int64_t number, const std::vector<std::string>& arrays,
                           const Launch& launch) {
  const auto wave = launch.folder.wave(number);
  return slurm::submit(
      {.flags = with(without_gpus(launch.flags),
                     {fmt::format("--dependency=afterany:{}", fmt::join(arrays, ":")),
                      "--output=" + wave.closing_output().string(), "--requeue",
                      "--open-mode=append", "--nodes=1", "--ntasks=1", "--cpus-per-task=1"}),
       .name = name_of(number, launch) + kClosing,
       .script = {wave.closing_script().string()}});
}

/// How the run of that line ended whose job has left no record of it.
std::optional<records::RunFailure> unrecorded_end(const records::WaveFolder& wave,
                                                  const records::RunFolder& run,
                                                  const records::WaveArray& array, int64_t line) {
  const auto task = std::to_string(line - array.first);
  const auto before = records::read_failure(run);
  const int64_t attempts = 1 + (before ? before->attempts : 0);
  const auto output = wave.output(array.job, task);
  if (!fs::exists(output) || fs::exists(wave.cancelled(std::to_string(line + 1))))
    return records::RunFailure{static_cast<int>(ExitCode::interrupted), attempts,
                               "its job was cancelled, or restarted too often; launch the "
                               "study again to go on",
                               array.job + "_" + task};
  const auto starts = records::read_starts(run);
  if (starts.empty() || starts.back().job != array.job + "_" + task)
    return records::RunFailure{static_cast<int>(ExitCode::internal), attempts,
                               "its job ended before the run began; see " + output.string(),
                               array.job + "_" + task};
  if (starts.back().ended) return {};  // interrupted
  return records::RunFailure{kKilled, attempts,
                             "the job ended without writing a result; see " + output.string(),
                             array.job + "_" + task};
}

}  // namespace

std::string read_prologue(const fs::path& file) {
  auto text = training::read_bytes(file);
  if (text.find('\0') != std::string::npos)
    throw UsageError(file.string() + " is no text; --prologue takes a file of bash lines");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("#SBATCH"))
      throw UsageError(fmt::format("{}: sbatch does not read '{}' there; give its flags by --slurm",
                                   file.string(), line));
  // What the rest of a script does must not depend on the options of the shell.
  return text + "\nset +eu\n";
}

std::string job_prefix(const records::StudyFolder& folder) {
  const auto path = fs::weakly_canonical(folder.path);
  return fmt::format("ablate-{}-{}-", path.filename().string(),
                     tokenizer::sha256(path.string()).substr(0, kDigestDigits));
}

std::vector<std::string> commands_for(const config::Study& study,
                                      const std::vector<config::RunSpecification>& runs,
                                      const Launch& launch) {
  plan(study, runs, launch);
  std::vector<std::string> commands;
  for (const auto& run : runs) {
    auto words = train_command(launch.folder.run(run), launch.worker);
    words.front() = launch.program.string();
    words.insert(words.end(), {"--retries", std::to_string(launch.retries)});
    commands.push_back(quoted(words));
  }
  return commands;
}

int64_t submit_wave(const config::Study& study, const std::vector<config::RunSpecification>& runs,
                    const Launch& launch) {
  plan(study, runs, launch);
  const auto number = records::last_wave(launch.folder) + 1;
  const auto wave = make_wave(number, launch);
  std::vector<records::RunFolder> folders;
  for (const auto& run : runs) folders.push_back(launch.folder.run(run));
  records::write_wave_runs(wave, folders);
  write_script(wave.job_script(), job_script(wave, launch));
  write_script(wave.closing_script(),
               fmt::format(kClosingScript, launch.prologue, quoted(fs::current_path().string()),
                           quoted(with({launch.program.string()}, launch.repeat))));
  auto jobs = submit_arrays(number, std::ssize(runs), launch);
  if (launch.waits) return number;
  std::vector<std::string> arrays;
  for (const auto& array : jobs.arrays) arrays.push_back(array.job);
  jobs.closing = submit_closing(number, arrays, launch);
  records::write_wave_jobs(wave, jobs);
  return number;
}

void close_wave(int64_t number, const std::vector<QueuedJob>& arrays, const Launch& launch) {
  std::vector<std::string> ids;
  for (const auto& job : arrays)
    if (std::ranges::find(ids, job.array) == ids.end()) ids.push_back(job.array);
  submit_closing(number, ids, launch);
}

void account_for(const records::WaveFolder& wave) {
  const auto jobs = records::read_wave_jobs(wave);
  if (!jobs) return;
  const auto runs = records::read_wave_runs(wave);
  for (const auto& array : jobs->arrays)
    for (int64_t line = array.first; line < array.first + array.tasks; ++line) {
      const auto& run = runs[static_cast<size_t>(line)];
      const auto failure = records::read_failure(run);
      const auto job = fmt::format("{}_{}", array.job, line - array.first);
      if (fs::exists(run.result()) || (failure && failure->job == job)) continue;
      if (const auto end = unrecorded_end(wave, run, array, line))
        records::write_failure(run, *end);
    }
}

}  // namespace ablate::schedule
