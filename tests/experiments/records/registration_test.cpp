#include "experiments/records/registration.h"

#include <algorithm>

#include "experiments/records/frozen_study.h"
#include "experiments/records/run_plan.h"
#include "tests/experiments/program.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::records {
namespace {

constexpr const char* kBefore = "2026-01-01T00:00:00Z";
constexpr const char* kRegistered = "2026-01-02T00:00:00Z";
constexpr const char* kAfter = "2026-01-03T00:00:00Z";

class RegistrationTest : public ProgramTest {
 protected:
  std::filesystem::path output() const { return folder_ / "out"; }
  StudyFolder started() const { return output() / "tiny"; }

  Registration registration(const config::Selection& selection = {}) const {
    return {
        .registered = kRegistered,
        .study_sha256 = declared_sha256(config::read_study(study(), selection), selection.seeds),
        .data_sha256 = {"of the data"},
        .program_sha256 = "of the program",
        .commit = "abc"};
  }

  void write_start(const std::filesystem::path& run, const RunStart& start) const {
    training::write_durably(RunFolder(run).environment(),
                            training::sealed_json({{"starts", {training::to_json(start)}}}));
  }
  /// Begins the run of a study in the output folder as start() has it.
  void begin_run(const config::Study& study, const config::RunSpecification& run) const {
    const auto folder = StudyFolder(output() / study.name).run(run);
    write_plan(folder, study, run);
    write_start(folder.path, start());
  }

  /// What is said of the study's one run if it began like this.
  Standing standing(const RunStart& start, const std::string& data = "of the data") const {
    const auto now = freeze(study(), {}, output());
    const auto& run = now.runs.front();
    write_plan(started().run(run), now, run);
    write_start(started().run(run).path, start);
    return standing_of(
        {.folder = started(),
         .results = {{.task = run.task, .arm = run.arm, .seed = run.seed, .data_sha256 = data}},
         .missing = {}});
  }

  /// The study under another name.
  std::filesystem::path renamed(const std::string& name) const {
    const auto file = folder_ / (name + ".yaml");
    write_file(file, replaced(read_file(study()), "name: tiny", "name: " + name));
    return file;
  }
  static RunStart start() { return {.began = kAfter, .program_sha256 = "of the program"}; }
};

TEST_F(RegistrationTest, AStudyThatWasRegisteredBeforeItsRunsIsConfirmatory) {
  write_lock(lock_of(study()), registration());
  EXPECT_EQ(standing(start()).sentence(),
            "Confirmatory: registered at 2026-01-02T00:00:00Z, before the first run, as study 1 of "
            "its question.");
}

TEST_F(RegistrationTest, StudiesOfOneQuestionAreCounted) {
  std::filesystem::create_directories(output());
  auto lock = registration();
  lock.question = "Do gates help?";
  write_lock(output() / "one.lock", lock);
  write_lock(output() / "two.lock", lock);
  lock.question = "Do norms help?";
  write_lock(output() / "three.lock", lock);
  training::write_durably(output() / "poetry.lock", "of another program");
  EXPECT_EQ(count_looks(output(), "Do gates help?"), 2);
  EXPECT_EQ(count_looks(output(), "Do norms help?"), 1);
  EXPECT_EQ(count_looks(output(), "Do norms hurt?"), 0);
}

TEST_F(RegistrationTest, OnlyConfirmatoryResultsAreALookAtTheQuestion) {
  auto lock = registration();
  lock.look = 3;
  write_lock(lock_of(study()), lock);
  EXPECT_EQ(standing(start()).look, 3);
  EXPECT_EQ(standing(start(), "other data").look, 0);
}

TEST_F(RegistrationTest, AStudyWithoutALockIsExploratory) {
  EXPECT_EQ(standing(start()).sentence(),
            "Exploratory: the study was not registered before its first run (ablate register).");
}

TEST_F(RegistrationTest, WhatDiffersFromTheLockIsTheReason) {
  write_lock(lock_of(study()), registration());
  auto other = start();
  other.program_sha256 = "another";
  EXPECT_EQ(standing(other).exploratory,
            "the run copy/base/seed-1 was made by another program than the registered one");
  other = start();
  other.began = kBefore;
  EXPECT_EQ(standing(other).exploratory, "the run copy/base/seed-1 began before it was registered");
  EXPECT_EQ(standing(start(), "other data").exploratory,
            "the run copy/base/seed-1 read other data than the registered ones");
  freeze(study(), {.seeds = {1, 2}}, output());
  EXPECT_EQ(standing_of({.folder = started(), .results = {}, .missing = {}}).exploratory,
            "the study is another one than the registered one")
      << "a seed was added";
}

TEST_F(RegistrationTest, ResultsWithoutARegisteredSeedAreExploratory) {
  write_file(study(), replaced(read_file(study()), "seeds: [1]", "seeds: [1, 2, 3]"));
  write_lock(lock_of(study()), registration());
  freeze(study(), {.seeds = {1}}, output());
  const auto exploratory = [&](const config::Study& shown) {
    auto runs = read_runs(shown, started());
    runs.missing.clear();  // as if those of the started seeds had finished
    return standing_of(runs).exploratory;
  };
  EXPECT_EQ(exploratory(read_frozen(started())),
            "these results are without registered seeds: 2, 3");
  const auto some = freeze(study(), {.seeds = {2, 3}}, output());
  EXPECT_EQ(exploratory(read_frozen(started())), "");
  EXPECT_EQ(exploratory(some), "these results are without registered seeds: 1");
}

TEST_F(RegistrationTest, ASourceThatWasNotCommittedIsNoRegisteredProgram) {
  auto dirty = registration();
  dirty.commit = "abc-dirty";
  write_lock(lock_of(study()), dirty);
  EXPECT_EQ(standing(start()).exploratory, "the program's source was not committed");
}

TEST_F(RegistrationTest, ATrialRunBeforeTheLockIsARunBeforeIt) {
  write_lock(lock_of(study()), registration());
  EXPECT_EQ(standing(start()).exploratory, "");
  auto trial = freeze(study(), {}, output());
  trial.runs.front().arm += "-peak=0.001";
  trial.runs.front().seed += 100;
  trial.runs.front().trial = true;
  const auto run = started().run(trial.runs.front());
  write_plan(run, trial, trial.runs.front());
  EXPECT_EQ(standing(start()).exploratory, "") << "it has not begun";
  auto early = start();
  early.began = kBefore;
  write_start(run.path, early);
  EXPECT_EQ(standing(start()).exploratory,
            "the run copy/base-peak=0.001/seed-101 began before it was registered");
}

TEST_F(RegistrationTest, TheSameRunUnderAnotherNameIsFound) {
  const auto pilot = freeze(renamed("pilot"), {}, output());
  const auto run = StudyFolder(output() / "pilot").run(pilot.runs.front());
  write_plan(run, pilot, pilot.runs.front());
  write_lock(lock_of(study()), registration());
  EXPECT_EQ(standing(start()).exploratory, "") << "the pilot has not begun";

  std::filesystem::remove_all(started().path);
  write_start(run.path, start());
  EXPECT_EQ(standing(start()).exploratory,
            "a run of the same arm and seed was there before: pilot/copy/base/seed-1");
}

TEST_F(RegistrationTest, AnEarlierRunOfASeedThatIsAddedIsFoundAndALaterOneOfAnotherIsNone) {
  append(
      "arms: { base: {}, wide: { model.d_model: 32 } }\n"
      "compare: { baseline: base, metric: exact_match, test: e_value, control: false }\n");
  write_lock(lock_of(study()), registration());
  EXPECT_EQ(standing(start()).exploratory, "");
  const auto other = freeze(renamed("other"), {.seeds = {1, 2}}, output());
  const auto begin = [&](int64_t seed) {
    const auto run = std::ranges::find_if(
        other.runs, [&](const auto& one) { return one.seed == seed && one.arm == "base"; });
    begin_run(other, *run);
    freeze(study(), {.seeds = {1, 2}}, output());
    return standing(start()).exploratory;
  };
  EXPECT_EQ(begin(1), "") << "after this study's own";
  EXPECT_EQ(begin(2), "a run of the same arm and seed was there before: other/copy/base/seed-2");
}

TEST_F(RegistrationTest, ARunWithTheSameCrossedSeedsIsFound) {
  auto text = read_file(study());
  text.replace(0, text.find("base:"),
               "name: pilot\nseeds: { initialization: [1, 2], order: [1, 2] }\n");
  write_file(folder_ / "pilot.yaml", text);
  const auto pilot = freeze(folder_ / "pilot.yaml", {}, output());
  write_lock(lock_of(study()), registration());
  const auto begin = [&](size_t place) {
    begin_run(pilot, pilot.runs.at(place));
    std::filesystem::remove_all(started().path);
    return standing(start()).exploratory;
  };
  EXPECT_EQ(begin(1), "") << "of initialization 1 and order 2";
  EXPECT_EQ(begin(0), "a run of the same arm and seed was there before: pilot/copy/base/seed-1001");
}

TEST_F(RegistrationTest, IsOfWhatIsDeclaredAndNotOfHowItIsWritten) {
  const auto declared = registration().study_sha256;
  write_file(study(), "# a comment\n" + read_file(study()));
  EXPECT_EQ(registration().study_sha256, declared);
  EXPECT_NE(registration({.sets = {"training.steps=61"}}).study_sha256, declared);
  EXPECT_NE(registration({.seeds = {2}}).study_sha256, declared);
  append("\nquestion: Is it so?\n");
  EXPECT_NE(registration().study_sha256, declared);
}

TEST_F(RegistrationTest, ALockNamesTheNewestOneBeforeIt) {
  EXPECT_EQ(newest_lock(folder_), "");
  auto lock = registration();
  write_lock(folder_ / "b.lock", lock);
  const auto newest = newest_lock(folder_);
  lock.registered = kBefore;
  write_lock(folder_ / "a.lock", lock);
  write_file(folder_ / "of another program.lock", "text");
  EXPECT_EQ(newest_lock(folder_), newest);
}

TEST_F(RegistrationTest, ALockThatWasChangedByHandIsRefused) {
  write_lock(lock_of(study()), registration());
  const auto lock = lock_of(study());
  write_file(lock, replaced(read_file(lock), "2026-01-02", "2025-01-02"));
  EXPECT_THROW(freeze(study(), {}, output()), training::CheckpointError);
}

}  // namespace
}  // namespace ablate::records
