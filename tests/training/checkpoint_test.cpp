#include "training/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <random>
#include <stdexcept>

#include "tests/training/file_size_limit.h"
#include "tests/training/folder_test_case.h"
#include "training/checkpoint/durable_file.h"

namespace ablate::training {
namespace {

namespace fs = std::filesystem;

/// A small checkpoint whose bytes all depend on `step`.
Checkpoint example(int64_t step) {
  const auto value = static_cast<float>(step);
  Checkpoint checkpoint{.step = step};
  checkpoint.model = {{"weight", torch::arange(12).reshape({3, 4}).to(torch::kFloat32) * value},
                      {"bias", torch::full({4}, value)}};
  checkpoint.optimizer = {{"weight.mean", torch::full({3, 4}, value / 3)},
                          {"steps", torch::tensor(step)}};
  checkpoint.state = {{"step", step}, {"loss", 1.0 / value}, {"worst", 3e-310}};
  checkpoint.files = {{"config.yaml", "name: x\nseed: " + std::to_string(step) + "\n"},
                      {"source.model", std::string("\0\xff\n", 3) + std::to_string(step)}};
  return checkpoint;
}

void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, tensor] : a) EXPECT_TRUE(tensor.equal(b.at(name))) << name;
}

void expect_same(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.step, b.step);
  expect_same(a.model, b.model);
  expect_same(a.optimizer, b.optimizer);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.files, b.files);
}

std::set<std::string> names(const fs::path& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder))
    found.insert(entry.path().filename().string());
  return found;
}

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class CheckpointFolder : public FolderTestCase {
 protected:
  fs::path at(int64_t step) const { return folder() / ("step-0000000" + std::to_string(step)); }
  std::optional<Checkpoint> newest() {
    return load_newest(folder(), [&](const std::string& text) { warnings_.push_back(text); });
  }
  std::vector<std::string> warnings_;
};

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
  prune_checkpoints(folder(), 1, {});
  EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000001"});
}

TEST_F(CheckpointFolder, PruneKeepsTheNewestAndTheProtected) {
  for (int64_t step = 1; step <= 6; ++step) save_checkpoint(folder(), example(step));
  prune_checkpoints(folder(), 2, {3, 99});
  std::vector<int64_t> steps;
  for (const auto& found : list_checkpoints(folder())) steps.push_back(found.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{3, 5, 6}));
  EXPECT_EQ(names(folder()).size(), 3U);
}

TEST_F(CheckpointFolder, PruneRemovesNothingWhereTheNewestIsDamaged) {
  save_checkpoint(folder(), example(1));
  save_checkpoint(folder(), example(2));
  overwrite(at(2) / "config.yaml", "name: y\nseed: 2\n");
  EXPECT_THROW(prune_checkpoints(folder(), 1, {}), CheckpointError);
  expect_same(load_checkpoint(at(1)), example(1));
}

TEST_F(CheckpointFolder, PruneFinishesWhatAKilledPruneBegan) {
  for (int64_t step = 1; step <= 3; ++step) save_checkpoint(folder(), example(step));
  fs::copy(at(1), folder() / ".tmp-step-00000001");
  prune_checkpoints(folder(), 1, {});
  EXPECT_EQ(names(folder()), std::set<std::string>{"step-00000003"});
}

TEST_F(CheckpointFolder, AFolderUnderAnotherStepsNameIsRefused) {
  save_checkpoint(folder(), example(1));
  fs::rename(at(1), at(2));
  try {
    load_checkpoint(at(2));
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_EQ(error.what(), "'" + at(2).string() + "' holds the checkpoint of step 1");
  }
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
  for (const rlim_t bytes : {0, 1, 100, 200, 300, 400, 500}) {
    SCOPED_TRACE(bytes);
    try {
      const FileSizeLimit limit(bytes);
      save_checkpoint(folder(), example(2));
      FAIL() << "the write went through";
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("cannot write '" + folder().string()),
                std::string::npos);
      EXPECT_NE(std::string(error.what()).find("File too large"), std::string::npos);
    }
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
  try {
    save_checkpoint(folder() / "file" / "checkpoints", example(1));
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.what(),
              "cannot create '" + (folder() / "file/checkpoints").string() + "': Not a directory");
  }
}

/// Saves in a child process that the kernel kills when a file reaches `bytes`. Returns the signal.
int save_until_killed(const fs::path& folder, const Checkpoint& checkpoint, rlim_t bytes) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0}, limit{bytes, bytes};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_DFL);
    save_checkpoint(folder, checkpoint);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(CheckpointFolder, KilledInAnyOfItsFilesASaveIsAsIfItHadNotBegun) {
  save_checkpoint(folder(), example(1));
  // The child's files have different sizes, so each limit stops it in another one.
  for (const rlim_t bytes : {0, 1, 70, 150, 200, 300, 400}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(save_until_killed(folder(), example(2), bytes), SIGXFSZ);
    EXPECT_GT(names(folder()).size(), 1U);
    expect_same(*newest(), example(1));
    EXPECT_TRUE(warnings_.empty());
    save_checkpoint(folder(), example(3));
    prune_checkpoints(folder(), 2, {});
    EXPECT_EQ(names(folder()), (std::set<std::string>{"step-00000001", "step-00000003"}));
    fs::remove_all(at(3));
  }
}

/// One way to damage a checkpoint's folder. Returns what it did.
class Damage {
 public:
  Damage(fs::path newest, fs::path older, uint64_t seed)
      : newest_(std::move(newest)), older_(std::move(older)), random_(seed) {}

  std::string apply() {
    const auto all = names(newest_);
    auto name = all.begin();
    std::advance(name, below(all.size()));
    const auto path = newest_ / *name;
    switch (below(7)) {
      case 0:
        fs::remove(path);
        return "removed " + *name;
      case 1:
        fs::copy_file(older_ / *name, path, fs::copy_options::overwrite_existing);
        return "older " + *name;
      case 2:
        return swap(path, *name);
      default:
        return change(path, *name);
    }
  }

 private:
  size_t below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }

  std::string swap(const fs::path& path, const std::string& name) {
    const auto other = name == "model.safetensors" ? "optimizer.safetensors" : "model.safetensors";
    const auto mine = read_bytes(path), theirs = read_bytes(newest_ / other);
    overwrite(path, theirs);
    overwrite(newest_ / other, mine);
    return "swapped " + name + " and " + other;
  }

  std::string change(const fs::path& path, const std::string& name) {
    const auto before = read_bytes(path);
    auto bytes = before;
    const auto at = below(bytes.size());
    switch (below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        for (size_t i = at; i < std::min(bytes.size(), at + 64); ++i) bytes[i] = '\0';
        break;
      default:
        bytes.insert(at, 1, static_cast<char>(below(256)));
    }
    if (bytes == before) bytes.back() = static_cast<char>(bytes.back() ^ 1);
    overwrite(path, bytes);
    return "changed " + name + " at " + std::to_string(at);
  }

  fs::path newest_, older_;
  std::mt19937_64 random_;
};

TEST_F(CheckpointFolder, EveryOfAThousandCorruptionsIsDetectedAndTheOlderOneUsed) {
  save_checkpoint(folder(), example(1));
  save_checkpoint(folder(), example(2));
  const auto sound = folder() / "sound";
  fs::copy(at(2), sound);
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    fs::remove_all(at(2));
    fs::copy(sound, at(2));
    SCOPED_TRACE(Damage(at(2), at(1), seed).apply());
    EXPECT_THROW(load_checkpoint(at(2)), CheckpointError);
    warnings_.clear();
    const auto found = newest();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->step, 1);
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_TRUE(warnings_[0].starts_with("checkpoint of step 2 is not used: '")) << warnings_[0];
  }
}

}  // namespace
}  // namespace ablate::training
