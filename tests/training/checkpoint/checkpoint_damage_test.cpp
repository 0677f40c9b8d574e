#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include "tests/training/checkpoint_folder.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

namespace fs = std::filesystem;

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
  for (const rlim_t bytes : {0U, 1U, 70U, 150U, 200U, 300U, 400U}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(save_until_killed(folder(), example(2), bytes), SIGXFSZ);
    EXPECT_GT(names(folder()).size(), 1U);
    expect_same(*newest(), example(1));
    EXPECT_TRUE(warnings_.empty());
    save_checkpoint(folder(), example(3));
    prune_checkpoints(folder(), {.newest = 2});
    EXPECT_EQ(names(folder()), (std::set<std::string>{"step-00000001", "step-00000003"}));
    fs::remove_all(at(3));
  }
}

/// Damages a checkpoint's folder in one way after another, and repairs it in between.
class Damage {
 public:
  Damage(fs::path newest, fs::path older) : newest_(std::move(newest)), older_(std::move(older)) {
    for (const auto& name : names(newest_)) sound_[name] = read_bytes(newest_ / name);
  }

  /// Returns what it did.
  std::string apply(uint64_t seed) {
    random_.seed(seed);
    auto file = sound_.begin();
    std::advance(file, below(sound_.size()));
    const auto& [name, bytes] = *file;
    switch (below(7)) {
      case 0:
        touched_ = {name};
        fs::remove(newest_ / name);
        return "removed " + name;
      case 1:
        put(name, read_bytes(older_ / name));
        return "older " + name;
      case 2:
        return swap(name);
      default:
        put(name, changed(bytes));
        return "changed " + name;
    }
  }

  void repair() {
    for (const auto& name : std::exchange(touched_, {})) overwrite(newest_ / name, sound_[name]);
  }

 private:
  size_t below(size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random_);
  }

  void put(const std::string& name, const std::string& bytes) {
    touched_.insert(name);
    overwrite(newest_ / name, bytes);
  }

  std::string swap(const std::string& name) {
    const auto* other = name == "model.safetensors" ? "optimizer.safetensors" : "model.safetensors";
    put(name, sound_[other]);
    put(other, sound_[name]);
    return "swapped " + name + " and " + other;
  }

  std::string changed(std::string bytes) {
    const auto before = bytes;
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
    return bytes;
  }

  fs::path newest_, older_;
  std::map<std::string, std::string> sound_;
  std::set<std::string> touched_;
  std::mt19937_64 random_;
};

TEST_F(CheckpointFolder, EveryOfSixHundredCorruptionsIsDetectedAndTheOlderOneUsed) {
  save_checkpoint(folder(), example(1));
  save_checkpoint(folder(), example(2));
  Damage damage(at(2), at(1));
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(damage.apply(seed));
    warnings_.clear();
    const auto found = newest();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->step, 1);
    ASSERT_EQ(warnings_.size(), 1U);
    EXPECT_TRUE(warnings_[0].starts_with("checkpoint of step 2 is not used: '")) << warnings_[0];
    damage.repair();
  }
  warnings_.clear();
  expect_same(*newest(), example(2));
}

}  // namespace
}  // namespace ablate::training
