#include "experiments/records/frozen_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study_change.h"
#include "experiments/errors.h"
#include "experiments/records/registration.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/tuned_arms.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

using std::filesystem::path;

/// The study with the sets and all tasks and arms, or only the selected ones if the sets are not
/// valid for all.
config::Study whole(const config::ParsedStudy& parsed, const config::Selection& selection) {
  const config::Selection all{.sets = selection.sets,
                              .seeds = selection.seeds,
                              .data_folder = selection.data_folder,
                              .count = selection.count};
  config::ProblemList problems;
  auto study = config::make_study(parsed, all, problems);
  return problems.empty() ? study : config::make_study(parsed, selection);
}

/// Seeds of earlier starts, then those that this one adds.
std::vector<int64_t> all_seeds(std::vector<int64_t> earlier, const std::vector<int64_t>& seeds) {
  for (const int64_t seed : seeds)
    if (std::ranges::find(earlier, seed) == earlier.end()) earlier.push_back(seed);
  return earlier;
}

std::vector<int64_t> late_seeds(const StudyFolder& folder) {
  if (!std::filesystem::exists(folder.command())) return {};
  return training::read_sealed_json(folder.command()).at("late_seeds").get<std::vector<int64_t>>();
}

/// The seeds that no start before this one had, if a report of those has been made.
std::vector<int64_t> seeds_after_look(const StudyFolder& folder,
                                      const std::vector<int64_t>& seeds) {
  auto late = late_seeds(folder);
  if (!std::filesystem::exists(folder.report())) return late;
  const auto earlier = frozen_selection(folder).seeds;
  for (const int64_t seed : seeds)
    if (std::ranges::find(earlier, seed) == earlier.end()) late.push_back(seed);
  return late;
}

std::string selection_json(const config::Selection& selection,
                           const std::vector<int64_t>& late_seeds, const std::string& file) {
  const nlohmann::json json{
      {"late_seeds", late_seeds},
      {"study_sha256", tokenizer::sha256(file)},
      {"sets", selection.sets},
      {"arms", selection.arms},
      {"tasks", selection.tasks},
      {"sizes", selection.sizes},
      {"seeds", selection.seeds},
      {"data_folder", std::filesystem::absolute(*selection.data_folder / ".").lexically_normal()}};
  return training::sealed_json(json);
}

/// Throws CheckpointError if the copy of the study is not the file that was started.
void check_copy(const StudyFolder& folder) {
  if (!std::filesystem::exists(folder.command())) return;
  const auto json = training::read_sealed_json(folder.command());
  if (json.at("study_sha256") != tokenizer::sha256(training::read_bytes(folder.study())))
    throw training::CheckpointError(
        folder.study().string() +
        " is damaged: it is not the study that was started; repeat `ablate run` with the study's "
        "own file");
}

/// Throws UsageError if the folder is not a study's; for a run's folder the message names the
/// study's.
void require_study(const StudyFolder& folder) {
  if (std::filesystem::exists(folder.study())) return;
  const auto& given = folder.path;
  for (auto above = given.parent_path(); above.has_relative_path(); above = above.parent_path())
    if (std::filesystem::exists(StudyFolder(above).study()))
      throw UsageError(fmt::format("{} is a folder of the study in {}; give that one",
                                   given.string(), above.string()));
  if (std::filesystem::is_regular_file(given))
    throw UsageError(given.string() +
                     " is a file; give the study's folder, <output>/<study>, or a packed study "
                     "(`ablate pack`)");
  throw UsageError(given.string() +
                   " is not the folder of a study (<output>/<study>): it has no study.yaml");
}

void refuse_changes(const StudyFolder& folder, const config::ParsedStudy& now,
                    const config::Selection& selection) {
  if (!std::filesystem::exists(folder.study())) return;
  auto frozen = frozen_selection(folder);
  frozen.count = selection.count;
  auto lines = config::changed_sets(frozen.sets, selection.sets);
  // Other sets explain the other values, so only the sets are listed.
  if (lines.empty() && training::read_bytes(folder.study()) != now.text)
    lines =
        config::changes(whole(config::parse_study(folder.study()), frozen), whole(now, selection));
  if (lines.empty()) return;
  throw UsageError(fmt::format(
      "{} is the study as it was started, from which {} differs:\n  {}\n"
      "Undo that, choose another --output or name, or remove {} to start anew; only tasks, arms "
      "and seeds may be added",
      folder.study().string(), now.file.string(), fmt::join(lines, "\n  "), folder.path.string()));
}

void replace(const path& file, const std::string& bytes) {
  if (std::filesystem::exists(file) && training::read_bytes(file) == bytes) return;
  training::write_durably(file, bytes);
}

}  // namespace

StudyFolder named_study(const path& given) {
  if (!is_study_file(given)) return std::filesystem::weakly_canonical(given);
  const auto folder = study_folder(kDefaultOutput, config::parse_study(given).keys.name);
  if (std::filesystem::exists(folder.study()))
    return std::filesystem::weakly_canonical(folder.path);
  throw UsageError(fmt::format(
      "{0} is a study's file, and there is no {1}; start it with `ablate run {0}`, or give its "
      "folder, <output>/<study>",
      given.string(), folder.path.string()));
}

config::Selection frozen_selection(const StudyFolder& folder) {
  const auto file = folder.command();
  if (!std::filesystem::exists(file)) return {};
  try {
    const auto json = training::read_sealed_json(file);
    config::Selection selection;
    json.at("sets").get_to(selection.sets);
    json.at("arms").get_to(selection.arms);
    json.at("tasks").get_to(selection.tasks);
    json.at("sizes").get_to(selection.sizes);
    training::require_integers(json);
    json.at("seeds").get_to(selection.seeds);
    selection.data_folder = json.at("data_folder").get<std::string>();
    return selection;
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(fmt::format("{} is damaged ({})", file.string(), error.what()));
  }
}

config::Study planned(const path& file, const config::Selection& selection, const path& output) {
  const auto parsed = config::parse_study(file);
  auto study = config::make_study(parsed, selection);
  refuse_changes(study_folder(output, study.name), parsed, selection);
  return study;
}

config::Study freeze(const path& file, const config::Selection& selection, const path& output) {
  const auto given = config::parse_study(file);
  const auto folder = study_folder(output, given.keys.name);
  auto copy = given;
  // Later edits of `file` do not reach the copy. If that is made of several files, its lines are
  // not theirs.
  if (!given.given("extends")) copy.file = folder.study();
  auto chosen = selection;
  if (!chosen.data_folder) chosen.data_folder = file.parent_path();
  auto study = config::make_study(copy, chosen);
  study.file = folder.study();
  training::create_folder(folder.path);
  const training::FolderLock lock(folder.path);  // of two that start at once, one is first
  training::remove_leftover_files(folder.path);
  refuse_changes(folder, given, selection);
  const auto late = seeds_after_look(folder, study.seeds);
  chosen.seeds = all_seeds(frozen_selection(folder).seeds, study.seeds);
  replace(folder.command(), selection_json(chosen, late, given.text));
  replace(folder.study(), given.text);
  record_registration(folder, file, study, chosen.seeds);
  std::ranges::copy_if(late, std::back_inserter(study.late_seeds), [&](int64_t seed) {
    return std::ranges::find(study.seeds, seed) != study.seeds.end();
  });
  return study;
}

config::Study read_frozen(const StudyFolder& folder, const config::ParameterCounter& count) {
  require_study(folder);
  check_copy(folder);
  auto selection = frozen_selection(folder);
  selection.count = count;
  auto study = whole(config::parse_study(folder.study()), selection);
  study.late_seeds = late_seeds(folder);
  return with_best_values(std::move(study), folder);
}

}  // namespace ablate::records
