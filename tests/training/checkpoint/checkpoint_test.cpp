#include "training/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <stdexcept>

#include "tests/says.h"
#include "tests/training/checkpoint_folder.h"
#include "tests/training/storage/file_size_limit.h"
#include "tests/training/storage/waiting_lock.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

namespace fs = std::filesystem;

TEST_F(CheckpointFolder, RoundTripKeepsEverything) {
  save_checkpoint(folder(), example(7));
  EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000007"});
  EXPECT_EQ(names(at(7)),
            (std::set<std::string>{"config.yaml", "manifest.json", "model.safetensors",
                                   "optimizer.safetensors", "source.model", "state.json"}));
  expect_same(load_checkpoint(at(7)), example(7));
  expect_same(load_checkpoint(at(7).string() + "/"), example(7));
}

TEST_F(CheckpointFolder, StateKeepsNumbersThatAreNotFinite) {
  auto checkpoint = example(1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  checkpoint.state = {{"best", kInfinity}, {"list", {-kInfinity, std::nan("")}}, {"zero", -0.0}};
  save_checkpoint(folder(), checkpoint);
  const auto state = load_checkpoint(at(1)).state;
  EXPECT_EQ(state["best"].get<double>(), kInfinity);
  EXPECT_EQ(state["list"][0].get<double>(), -kInfinity);
  EXPECT_TRUE(std::isnan(state["list"][1].get<double>()));
  EXPECT_TRUE(std::signbit(state["zero"].get<double>()));
}

TEST_F(CheckpointFolder, SavingAStepAgainReplacesIt) {
  save_checkpoint(folder(), example(1));
  auto changed = example(1);
  changed.state["loss"] = 5;
  save_checkpoint(folder(), changed);
  expect_same(load_checkpoint(at(1)), changed);
  EXPECT_EQ(names(folder()).size(), 1U);
}

TEST_F(CheckpointFolder, SavingReplacesADamagedOne) {
  save_checkpoint(folder(), example(1));
  fs::remove(at(1) / "manifest.json");
  save_checkpoint(folder(), example(1));
  expect_same(load_checkpoint(at(1)), example(1));
}

TEST_F(CheckpointFolder, RefusesFilesThatWouldEscapeOrCollide) {
  for (const auto* name : {"../x", "a/b", "", ".hidden", "..", "model.safetensors", "state.json",
                           "manifest.json", "optimizer.safetensors", "a b"}) {
    auto checkpoint = example(1);
    checkpoint.files.emplace(name, std::string());
    EXPECT_THROW(save_checkpoint(folder(), checkpoint), std::invalid_argument) << name;
  }
  EXPECT_TRUE(names(folder()).empty());
}

TEST_F(CheckpointFolder, ListsBySteps) {
  EXPECT_TRUE(list_checkpoints(folder() / "none").empty());
  for (const int64_t step : {3, 1, 2}) save_checkpoint(folder(), example(step));
  save_checkpoint(folder(), example(123'456'789));
  fs::create_directory(folder() / ".tmp-step-00000009-77");
  fs::create_directory(folder() / "step-9");
  fs::create_directory(folder() / "step-00000009x");
  write_durably(folder() / "step-00000008", "a file");
  std::vector<int64_t> steps;
  for (const auto& found : list_checkpoints(folder())) steps.push_back(found.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{1, 2, 3, 123'456'789}));
}

TEST_F(CheckpointFolder, NewestIsLoadedWithoutAWarning) {
  EXPECT_FALSE(newest());
  save_checkpoint(folder(), example(1));
  save_checkpoint(folder(), example(2));
  expect_same(*newest(), example(2));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CheckpointFolder, NeverStartsAgainSilently) {
  save_checkpoint(folder(), example(1));
  fs::remove(at(1) / "state.json");
  EXPECT_THROW(newest(), CheckpointError);
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(CheckpointFolder, LeftoversOfAKilledSaveAreIgnoredAndPruned) {
  save_checkpoint(folder(), example(1));
  const auto leftover = folder() / ".tmp-step-00000002-4711";
  fs::copy(at(1), leftover);
  fs::remove(leftover / "manifest.json");
  write_durably(folder() / ".tmp-file-1", "half");
  EXPECT_EQ(newest()->step, 1);
  EXPECT_TRUE(warnings_.empty());
  prune_checkpoints(folder(), {.newest = 1});
  EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000001"});
}

TEST_F(CheckpointFolder, ASaveLeavesAloneWhatAnotherProcessOfTheSameNumberWrites) {
  const auto other = folder() / (".tmp-step-00000001-" + std::to_string(getpid()));
  fs::create_directory(other);
  write_durably(other / "model.safetensors", "half");
  save_checkpoint(folder(), example(1));
  EXPECT_EQ(read_bytes(other / "model.safetensors"), "half");
  expect_same(load_checkpoint(at(1)), example(1));
}

TEST_F(CheckpointFolder, ASaveThatIsUnderWayIsNotTakenForALeftover) {
  save_checkpoint(folder(), example(1));
  const auto begun = temporary_beside(at(2));
  std::optional<FolderLock> saving(folder());  // which a save holds
  fs::create_directory(begun);
  auto pruning =
      std::async(std::launch::async, [&] { prune_checkpoints(folder(), {.newest = 1}); });
  await_waiting(pruning);
  EXPECT_TRUE(fs::exists(begun));
  saving.reset();
  pruning.get();
  EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000001"});
}

TEST_F(CheckpointFolder, ASaveWaitsForAnother) {
  std::optional<FolderLock> saving(folder());
  auto other = std::async(std::launch::async, [&] { save_checkpoint(folder(), example(1)); });
  await_waiting(other);
  EXPECT_TRUE(names(folder()).empty());
  saving.reset();
  other.get();
  expect_same(*newest(), example(1));
}

TEST_F(CheckpointFolder, PruneKeepsTheNewestAndTheProtected) {
  for (int64_t step = 1; step <= 6; ++step) save_checkpoint(folder(), example(step));
  prune_checkpoints(folder(), {.newest = 2, .steps = {3, 99}});
  EXPECT_EQ(names(folder()),
            (std::set<std::string>{"step-00000003", "step-00000005", "step-00000006"}));
}

TEST_F(CheckpointFolder, PruneCountsThoseOfSomeStepsAloneAndKeepsTheLast) {
  for (int64_t step = 1; step <= 7; ++step) save_checkpoint(folder(), example(step));
  prune_checkpoints(folder(), {.newest = 2, .every = 2});
  EXPECT_EQ(names(folder()),
            (std::set<std::string>{"step-00000004", "step-00000006", "step-00000007"}));
}

TEST_F(CheckpointFolder, PruneRemovesNothingWhereTheNewestIsDamaged) {
  save_checkpoint(folder(), example(1));
  save_checkpoint(folder(), example(2));
  overwrite(at(2) / "config.yaml", "name: y\nseed: 2\n");
  EXPECT_THROW(prune_checkpoints(folder(), {.newest = 1}), CheckpointError);
  expect_same(load_checkpoint(at(1)), example(1));
}

TEST_F(CheckpointFolder, PruneFinishesWhatAKilledPruneBegan) {
  for (int64_t step = 1; step <= 3; ++step) save_checkpoint(folder(), example(step));
  fs::copy(at(1), folder() / ".tmp-step-00000001");
  prune_checkpoints(folder(), {.newest = 1});
  EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000003"});
}

TEST_F(CheckpointFolder, AFolderUnderAnotherStepsNameIsRefused) {
  save_checkpoint(folder(), example(1));
  fs::rename(at(1), at(2));
  EXPECT_EQ(refusal_of<CheckpointError>([&] { load_checkpoint(at(2)); }),
            "'" + (at(2) / "manifest.json").string() + "' is that of step 1");
}

TEST_F(CheckpointFolder, AManifestCannotNameFilesElsewhere) {
  save_checkpoint(folder(), example(1));
  auto bytes = read_bytes(at(1) / "manifest.json");
  bytes.replace(bytes.find("config.yaml"), 11, "../evil.txt");
  overwrite(at(1) / "manifest.json", bytes);
  EXPECT_THROW(load_checkpoint(at(1)), CheckpointError);
}

TEST_F(CheckpointFolder, MissingFolderIsACheckpointError) {
  EXPECT_THROW(load_checkpoint(folder() / "step-00000005"), CheckpointError);
}

TEST_F(CheckpointFolder, FullDiskAtAnyByteLeavesThePreviousCheckpointAlone) {
  save_checkpoint(folder(), example(1));
  for (const rlim_t bytes : {0U, 1U, 100U, 200U, 300U, 400U, 500U}) {
    SCOPED_TRACE(bytes);
    const auto why = refusal_of<IoError>([&] {
      const FileSizeLimit limit(bytes);
      save_checkpoint(folder(), example(2));
    });
    EXPECT_TRUE(says(why, "cannot write '" + folder().string()));
    EXPECT_TRUE(says(why, "File too large"));
    EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000001"});
    expect_same(*newest(), example(1));
  }
}

TEST_F(CheckpointFolder, FullDiskWhileReplacingKeepsTheOldOne) {
  save_checkpoint(folder(), example(1));
  auto larger = example(1);
  larger.model["large"] = torch::ones({1000});
  {
    const FileSizeLimit limit(2000);
    EXPECT_THROW(save_checkpoint(folder(), larger), IoError);
  }
  expect_same(load_checkpoint(at(1)), example(1));
}

TEST_F(CheckpointFolder, AFolderThatCannotBeMadeIsAnIoErrorWithPathAndReason) {
  write_durably(folder() / "file", "x");
  EXPECT_EQ(
      refusal_of<IoError>([&] { save_checkpoint(folder() / "file" / "checkpoints", example(1)); }),
      "cannot create '" + (folder() / "file/checkpoints").string() + "': Not a directory");
}

}  // namespace
}  // namespace ablate::training
