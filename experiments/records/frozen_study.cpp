#include "experiments/records/frozen_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study_change.h"
#include "experiments/errors.h"
#include "experiments/records/registration.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/sealed_record.h"
#include "experiments/records/tuned_arms.h"
#include "tokenizer/text/digest.h"

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

/// The starts of a study so far: command.json.
struct Starts {
  config::Selection selection;
  std::string data_folder;  // absolute
  config::LateParts late;
  std::string study_sha256;  // of the copy of the study

  static void fields(auto& o, auto&& visit) {
    visit("sets", o.selection.sets);
    visit("arms", o.selection.arms);
    visit("tasks", o.selection.tasks);
    visit("sizes", o.selection.sizes);
    visit("seeds", o.selection.seeds);
    visit("data_folder", o.data_folder);
    visit("late_seeds", o.late.seeds);
    visit("late_arms", o.late.arms);
    visit("late_tasks", o.late.tasks);
    visit("late_sizes", o.late.sizes);
    visit("late_values", o.late.values);
    visit("study_sha256", o.study_sha256);
  }
};

/// Empty before the first start.
Starts starts_of(const StudyFolder& folder) {
  const auto earlier = nlohmann::json::parse(
      R"({"late_arms": [], "late_tasks": [], "late_sizes": [], "late_values": []})");
  auto starts = read_sealed<Starts>(folder.command(), "", earlier);
  if (!starts) return {};
  starts->selection.data_folder = starts->data_folder;
  return *starts;
}

constexpr std::array kLateNames{&config::LateParts::arms, &config::LateParts::tasks,
                                &config::LateParts::sizes, &config::LateParts::values};

/// Adds the parts of `now` that are neither in `before` nor in `added`, each once.
template <class Part>
void add_new(const std::vector<Part>& now, const std::vector<Part>& before,
             std::vector<Part>& added) {
  for (const auto& part : now)
    if (std::ranges::find(before, part) == before.end() &&
        std::ranges::find(added, part) == added.end())
      added.push_back(part);
}

/// The names of arms and of what settings are made of.
config::LateParts names_in(const std::vector<std::string>& arms,
                           const std::vector<config::Setting>& settings) {
  config::LateParts all{.arms = arms};
  for (const auto& setting : settings) {
    add_new({setting.task}, {}, all.tasks);
    if (!setting.size.empty()) add_new({setting.size}, {}, all.sizes);
    for (const auto& [key, value] : setting.grid) add_new({key + "=" + value}, {}, all.values);
  }
  return all;
}

/// With what no start before this one had, if a report of the rest has been made. An arm that the
/// file declared from the start is not late, even if it is selected only now.
config::LateParts late_with(const config::ParsedStudy& now, const std::vector<int64_t>& seeds,
                            const StudyFolder& folder, const Starts& earlier) {
  auto late = earlier.late;
  if (!std::filesystem::exists(folder.report())) return late;
  add_new(seeds, earlier.selection.seeds, late.seeds);
  const auto then = config::parse_study(folder.study());
  const auto before = names_in(names_of(then.arms), then.settings),
             after = names_in(names_of(now.arms), now.settings);
  for (const auto names : kLateNames) add_new(after.*names, before.*names, late.*names);
  return late;
}

/// Only the parts that the study has.
config::LateParts late_in(const config::Study& study, config::LateParts late) {
  const auto keep = [](auto& parts, const auto& known) {
    std::erase_if(parts,
                  [&](const auto& part) { return std::ranges::find(known, part) == known.end(); });
  };
  const auto own = names_in(study.arms, study.settings);
  keep(late.seeds, study.seeds);
  for (const auto names : kLateNames) keep(late.*names, own.*names);
  return late;
}

/// Throws CheckpointError if the copy of the study is not the file that was started.
void check_copy(const StudyFolder& folder, const Starts& starts) {
  if (starts.study_sha256 != tokenizer::sha256(training::read_bytes(folder.study())))
    throw training::CheckpointError(
        folder.study().string() +
        " is damaged: it is not the study that was started; repeat `ablate run` with the study's "
        "own file");
}

/// A start leaves both files; a user's own study may be called study.yaml, too.
bool was_started(const StudyFolder& folder) {
  return std::filesystem::exists(folder.study()) && std::filesystem::exists(folder.command());
}

/// Throws UsageError if the folder is not a study's; for a run's folder the message names the
/// study's.
void require_study(const StudyFolder& folder) {
  if (was_started(folder)) return;
  const auto& given = folder.path;
  for (auto above = given.parent_path(); above.has_relative_path(); above = above.parent_path())
    if (was_started(StudyFolder(above)))
      throw UsageError(fmt::format("{} is a folder of the study in {}; give that one",
                                   given.string(), above.string()));
  if (std::filesystem::is_regular_file(given))
    throw UsageError(given.string() +
                     " is a file; give the study's folder, <output>/<study>, or a packed study "
                     "(`ablate pack`)");
  throw UsageError(
      fmt::format("{} is not the folder of a study (<output>/<study>): {}", given.string(),
                  std::filesystem::exists(folder.study()) ? "its study.yaml was not started there"
                                                          : "it has no study.yaml"));
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
      "Undo that, choose another --output or name, or remove {} to start anew; only tasks, "
      "sizes, values of the grid, arms and seeds may be added",
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
  return starts_of(folder).selection;
}

config::Study planned(const path& file, const config::Selection& selection, const path& output) {
  const auto parsed = config::parse_study(file);
  const auto folder = study_folder(output, parsed.keys.name);
  auto chosen = selection;
  chosen.with_files = selection.with_files && !std::filesystem::exists(folder.study());
  auto study = config::make_study(parsed, chosen);
  refuse_changes(folder, parsed, selection);
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
  const auto earlier = starts_of(folder);
  const auto late = late_with(given, study.seeds, folder, earlier);
  chosen.seeds = earlier.selection.seeds;
  add_new(study.seeds, {}, chosen.seeds);
  const Starts starts{
      .selection = chosen,
      .data_folder = std::filesystem::absolute(*chosen.data_folder / ".").lexically_normal(),
      .late = late,
      .study_sha256 = tokenizer::sha256(given.text)};
  replace(folder.command(), training::sealed_json(training::to_json(starts)));
  replace(folder.study(), given.text);
  record_registration(folder, file, study, chosen.seeds);
  study.late = late_in(study, late);
  return study;
}

config::Study read_frozen(const StudyFolder& folder, const config::ParameterCounter& count) {
  require_study(folder);
  auto starts = starts_of(folder);
  check_copy(folder, starts);
  starts.selection.count = count;
  auto study = whole(config::parse_study(folder.study()), starts.selection);
  study.late = starts.late;
  return with_best_values(std::move(study), folder);
}

}  // namespace ablate::records
