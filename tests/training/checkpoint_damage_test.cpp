#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

#include "tests/training/checkpoint_folder.h"
#include "training/checkpoint/durable_file.h"

namespace ablate::training {
namespace {

namespace fs = std::filesystem;

void overwrite(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
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

TEST_F(CheckpointFolder, EveryOfSixHundredCorruptionsIsDetectedAndTheOlderOneUsed) {
  save_checkpoint(folder(), example(1));
  save_checkpoint(folder(), example(2));
  const auto sound = folder() / "sound";
  fs::copy(at(2), sound);
  for (uint64_t seed = 0; seed < 600; ++seed) {
    fs::remove_all(at(2));
    fs::copy(sound, at(2));
    SCOPED_TRACE(Damage(at(2), at(1), seed).apply());
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
