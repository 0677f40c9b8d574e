#include "experiments/records/registration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "experiments/config/schema/printer.h"
#include "experiments/config/study/crossed_seeds.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "experiments/records/sealed_record.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"

namespace ablate::records {
namespace {

namespace fs = std::filesystem;

/// What the folder of a started study keeps of its lock.
struct StartedLock {
  Registration lock;
  std::string declared_sha256;  // at the last start
  std::string earlier_run;      // of another study, before this one's own, or empty

  ABLATE_FIELDS(lock, declared_sha256, earlier_run)
};

/// A run's seeds, and its values without those that the study searches for.
using Fingerprint = std::tuple<int64_t, int64_t, std::string>;

/// Of the runs of a study that have not begun.
class Fingerprints {
 public:
  Fingerprints(const StudyFolder& folder, const config::Study& study) {
    if (study.tuning)
      for (const auto& key : study.tuning->keys) searched_.push_back(key.path + "=");
    for (const auto& run : study.runs)
      if (read_starts(folder.run(run)).empty())
        known_.insert(of(run.experiment, config::pair_of(run.seed, study.crossed)));
  }
  bool empty() const { return known_.empty(); }
  bool has(const RunFolder& run) const {
    const auto plan = read_plan(run);
    return known_.contains(of(planned_experiment(run), config::pair_of(plan.seed, plan.crossed)));
  }

 private:
  Fingerprint of(const config::Experiment& experiment, const config::SeedPair& seeds) const {
    std::istringstream lines(config::canonical(experiment));
    std::string values;
    for (std::string line; std::getline(lines, line);)
      if (std::ranges::none_of(searched_, [&](const auto& key) { return line.starts_with(key); }))
        values += line + "\n";
    return {seeds.initialization, seeds.order, values};
  }

  std::vector<std::string> searched_;
  std::set<Fingerprint> known_;
};

/// The folder of a run of another study of the same output with the configuration and the seed of a
/// run that has not begun, or an empty text.
std::string earlier_run(const StudyFolder& folder, const config::Study& study) {
  const Fingerprints own(folder, study);
  if (own.empty()) return "";
  const auto output = fs::absolute(folder.path).lexically_normal().parent_path();
  for (const auto& other : fs::directory_iterator(output)) {
    if (!fs::exists(StudyFolder(other).study()) || fs::equivalent(other.path(), folder.path))
      continue;
    for (const auto& file : fs::recursive_directory_iterator(other)) {
      const RunFolder run(file.path().parent_path());
      if (file.path() == run.plan() && !read_starts(run).empty() && own.has(run))
        return fs::relative(run.path, output).string();
    }
  }
  return "";
}

/// Why the starts of a run are not those that were registered; empty if they are.
std::string difference_of(const std::vector<RunStart>& starts, const Registration& lock) {
  for (const auto& start : starts) {
    if (start.began < lock.registered) return "began before it was registered";
    if (start.program_sha256 != lock.program_sha256)
      return "was made by another program than the registered one";
  }
  return starts.empty() ? "has no record of its starts" : "";
}

std::string why_exploratory(const StudyRuns& runs, const StartedLock& started) {
  const auto& lock = started.lock;
  if (started.declared_sha256 != lock.study_sha256)
    return "the study is another one than the registered one";
  if (lock.commit.empty() || lock.commit.ends_with("-dirty"))
    return "the program's source was not committed";
  if (!started.earlier_run.empty())
    return fmt::format("a run of the same arm and seed was there before: {}", started.earlier_run);
  if (!runs.other_seeds.empty())
    return fmt::format("these results are without registered seeds: {}",
                       fmt::join(runs.other_seeds, ", "));
  if (!runs.missing.empty())
    return fmt::format("{} of its {} runs have not finished", runs.missing.size(),
                       runs.missing.size() + runs.results.size());
  for (const auto& run : runs.results)
    if (std::ranges::find(lock.data_sha256, run.data_sha256) == lock.data_sha256.end())
      return fmt::format("the run {} read other data than the registered ones",
                         label(run.task, run.arm, run.seed));
  for (const auto& run : runs_in(runs.folder.path)) {  // also those that chose values of arms
    const auto starts = read_starts(run);
    if (starts.empty() && !fs::exists(run.result())) continue;
    const auto difference = difference_of(starts, lock);
    if (!difference.empty())
      return fmt::format("the run {} {}", fs::relative(run.path, runs.folder.path).string(),
                         difference);
  }
  return "";
}

/// The locks of other programs are left out.
std::vector<std::pair<fs::path, Registration>> locks_in(const fs::path& folder) {
  std::vector<std::pair<fs::path, Registration>> locks;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".lock" || !file.is_regular_file()) continue;
    try {
      locks.emplace_back(file.path(), *read_lock(file.path()));
    } catch (const training::CheckpointError&) {
      continue;
    }
  }
  return locks;
}

}  // namespace

fs::path lock_of(const fs::path& study) {
  auto lock = study;
  return lock.replace_extension(".lock");
}

std::string declared_sha256(const config::Study& study, std::span<const int64_t> seeds) {
  nlohmann::json declared;
  for (const auto& one : study.configurations)
    declared["configurations"][one.task][one.arm] = config::canonical(one.experiment);
  std::set<int64_t> all(study.declared_seeds.begin(), study.declared_seeds.end());
  if (!study.looks_often()) all.insert(seeds.begin(), seeds.end());
  declared["seeds"] = all;
  declared["claims"] = study.claims;
  if (study.crossed) declared["crossed"] = true;
  return tokenizer::sha256(declared.dump());
}

std::string newest_lock(const fs::path& folder) {
  std::string newest, digest;
  for (const auto& [file, lock] : locks_in(folder)) {
    if (lock.registered < newest) continue;
    newest = lock.registered;
    digest = tokenizer::sha256(training::read_bytes(file));
  }
  return digest;
}

int64_t count_looks(const fs::path& folder, const std::string& question) {
  return std::ranges::count_if(
      locks_in(folder), [&](const auto& found) { return found.second.question == question; });
}

std::optional<Registration> read_lock(const fs::path& lock) {
  return read_sealed<Registration>(lock);
}

void write_lock(const fs::path& lock, const Registration& registration) {
  write_sealed(lock, registration);
}

void record_registration(const StudyFolder& folder, const fs::path& file,
                         const config::Study& study, std::span<const int64_t> seeds) {
  auto started = read_sealed<StartedLock>(folder.lock());
  if (!started) {
    const auto lock = read_lock(lock_of(file));
    if (!lock) return;
    started = {.lock = *lock, .declared_sha256 = {}, .earlier_run = {}};
  }
  // Also at later starts, which may bring seeds.
  if (started->earlier_run.empty()) started->earlier_run = earlier_run(folder, study);
  started->declared_sha256 = declared_sha256(study, seeds);
  write_sealed(folder.lock(), *started);
}

std::string Standing::sentence() const {
  if (!exploratory.empty()) return fmt::format("Exploratory: {}.", exploratory);
  return fmt::format(
      "Confirmatory: registered at {}, before the first run, as study {} of its question.",
      registered, look);
}

Standing standing_of(const StudyRuns& runs) {
  const auto started = read_sealed<StartedLock>(runs.folder.lock());
  if (!started)
    return {.registered = {},
            .exploratory = "the study was not registered before its first run (ablate register)"};
  auto exploratory = why_exploratory(runs, *started);
  const int64_t look = exploratory.empty() ? started->lock.look : 0;
  return {
      .registered = started->lock.registered, .exploratory = std::move(exploratory), .look = look};
}

}  // namespace ablate::records
