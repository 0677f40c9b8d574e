#include "experiments/records/frozen_study.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <optional>

#include "experiments/errors.h"
#include "tests/experiments/program.h"
#include "tests/training/storage/waiting_lock.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"

namespace ablate::records {
namespace {

class FrozenStudy : public ProgramTest {
 protected:
  std::filesystem::path output() const { return folder_ / "out"; }
  StudyFolder frozen() const { return output() / "tiny"; }

  /// Another study of the same name.
  std::filesystem::path other() const {
    write_file(folder_ / "other.yaml", replaced(read_file(study()), "steps: 60", "steps: 61"));
    return folder_ / "other.yaml";
  }
};

TEST_F(FrozenStudy, OfTwoStudiesThatStartAtOnceUnderOneNameTheSecondIsRefused) {
  freeze(other(), {}, folder_ / "elsewhere");
  std::filesystem::create_directories(frozen().path);
  std::optional<training::FolderLock> first(frozen().path);
  auto second = std::async(std::launch::async, [&] { return freeze(study(), {}, output()); });
  await_waiting(second);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "elsewhere/tiny"))
    std::filesystem::copy(entry.path(), frozen().path,
                          std::filesystem::copy_options::skip_existing);
  first.reset();
  EXPECT_THROW(second.get(), UsageError);
  EXPECT_EQ(read_file(frozen().study()), read_file(other()));
}

TEST_F(FrozenStudy, ACopyThatHasChangedIsNotReported) {
  freeze(study(), {}, output());
  EXPECT_NO_THROW(read_frozen(frozen()));
  write_file(frozen().study(), replaced(read_file(frozen().study()), "steps: 60", "steps: 50"));
  EXPECT_THROW(read_frozen(frozen()), training::CheckpointError);
}

/// So that a shell may give it as <(...), and nobody can change it between two readings.
TEST_F(FrozenStudy, ReadsTheFileOnce) {
  const auto pipe = folder_ / "study.pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto frozen_now = std::async(std::launch::async, [&] { return freeze(pipe, {}, output()); });
  write_file(pipe, read_file(study()));
  while (frozen_now.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
    ADD_FAILURE() << "it reads once more";
    close(open(pipe.c_str(), O_WRONLY | O_NONBLOCK));
  }
  const auto now = frozen_now.get();
  EXPECT_EQ(read_file(frozen().study()), read_file(study()));
  EXPECT_EQ(now.file, frozen().study());
  EXPECT_TRUE(now.runs.front().origins.at("training.steps").starts_with("study.yaml:"));
}

TEST_F(FrozenStudy, WhatIsPlannedIsWhatAStartWouldRunAndWritesNothing) {
  EXPECT_EQ(planned(study(), {}, output()).runs.size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(output()));
  freeze(study(), {}, output());
  const auto more = planned(study(), {.seeds = {1, 2}}, output());
  EXPECT_EQ(more.runs.size(), 2U);
  EXPECT_THROW(planned(other(), {}, output()), UsageError);
  EXPECT_THROW(planned(study(), {.sets = {"training.max_grad_norm=1"}}, output()), UsageError);
  EXPECT_EQ(frozen_selection(frozen()).seeds, std::vector<int64_t>{1});
  EXPECT_EQ(read_file(frozen().study()), read_file(study()));
}

TEST_F(FrozenStudy, HoldsTheSeedsOfAllStartsWhateverTheLastOneSelected) {
  freeze(study(), {.seeds = {4, 2}}, output());
  freeze(study(), {.arms = {"base"}, .seeds = {2}}, output());
  EXPECT_EQ(read_frozen(frozen()).seeds, (std::vector<int64_t>{4, 2}));
  freeze(study(), {}, output());
  EXPECT_EQ(read_frozen(frozen()).seeds, (std::vector<int64_t>{4, 2, 1}));
}

TEST_F(FrozenStudy, SeedsThatAreAddedAfterAReportAreRemembered) {
  freeze(study(), {.seeds = {1, 2}}, output());
  freeze(study(), {.seeds = {1, 2, 3}}, output());
  EXPECT_TRUE(read_frozen(frozen()).late.seeds.empty()) << "nobody has seen a result";
  write_file(frozen().report(), "<p>p = 0.06</p>");
  freeze(study(), {.seeds = {2}}, output());
  freeze(study(), {.seeds = {4, 2}}, output());
  EXPECT_EQ(freeze(study(), {.seeds = {5}}, output()).late.seeds, std::vector<int64_t>{5})
      << "of the selected seeds alone";
  EXPECT_TRUE(freeze(study(), {.seeds = {2}}, output()).late.seeds.empty());
  EXPECT_EQ(read_frozen(frozen()).late.seeds, (std::vector<int64_t>{4, 5}));
}

TEST_F(FrozenStudy, ArmsAndSettingsThatAreAddedAfterAReportAreRemembered) {
  const auto file = read_file(study());
  const auto with = [&](const std::string& more) { write_file(study(), file + more); };
  with("sizes: {s: {}}\narms: {base: {}, a: {}}\ngrid: {training.z_loss: [0, 0.1]}\n");
  freeze(study(), {.arms = {"base"}}, output());
  write_file(frozen().report(), "<p>p = 0.06</p>");
  EXPECT_TRUE(freeze(study(), {}, output()).late.arms.empty()) << "it was declared from the start";
  with(
      "sizes: {s: {}, l: {model.layers: 2}}\narms: {base: {}, a: {}, b: {}}\n"
      "grid: {training.z_loss: [0, 0.1, 0.2]}\n");
  const auto late = freeze(study(), {.arms = {"base"}}, output()).late;
  EXPECT_TRUE(late.arms.empty()) << "of the selected arms alone";
  EXPECT_EQ(late.sizes, std::vector<std::string>{"l"});
  EXPECT_EQ(late.values, std::vector<std::string>{"training.z_loss=0.2"});
  EXPECT_TRUE(late.seeds.empty() && late.tasks.empty());
  freeze(study(), {}, output());
  EXPECT_EQ(read_frozen(frozen()).late.arms, std::vector<std::string>{"b"});
}

TEST_F(FrozenStudy, OfOneThatExtendsAnotherHoldsTheKeysOfBoth) {
  const auto longer = folder_ / "longer.yaml";
  write_file(longer, "extends: tiny.yaml\nbase: {training: {steps: 70}}\n");
  EXPECT_EQ(freeze(longer, {}, output()).file, frozen().study());
  EXPECT_NO_THROW(freeze(longer, {}, output()));
  EXPECT_THROW(planned(study(), {}, output()), UsageError) << "which trains for 60 steps";
  std::filesystem::remove(study());
  EXPECT_EQ(read_frozen(frozen()).runs.front().experiment.training.steps, 70);
}

TEST_F(FrozenStudy, WhatAKilledProcessWasWritingIsRemoved) {
  std::filesystem::create_directories(frozen().path);
  const auto leftover = training::temporary_beside(frozen().csv());
  write_file(leftover, "task,arm");
  freeze(study(), {}, output());
  EXPECT_FALSE(std::filesystem::exists(leftover));
}

}  // namespace
}  // namespace ablate::records
