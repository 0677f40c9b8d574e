#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <utility>

#include "experiments/records/run_plan.h"
#include "tests/folder.h"

namespace ablate::records {
namespace {

class WaveTest : public testing::Test {
 protected:
  StudyFolder study() const { return {folder_.path}; }
  WaveFolder made(int64_t number) const {
    const auto wave = study().wave(number);
    std::filesystem::create_directories(wave.path);
    return wave;
  }

  const Folder folder_;
};

TEST_F(WaveTest, CountsFromOne) {
  EXPECT_EQ(last_wave(study()), 0);
  made(1);
  made(2);
  EXPECT_EQ(last_wave(study()), 2);
}

TEST_F(WaveTest, RunsComeBack) {
  const auto wave = made(1);
  write_wave_runs(wave, {{"/a b/seed-1"}, {"/c/seed-2"}});
  const auto runs = read_wave_runs(wave);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].path, "/a b/seed-1");
  EXPECT_EQ(runs[1].path, "/c/seed-2");
}

TEST_F(WaveTest, JobsComeBackAndDamagedOnesAreNone) {
  const auto wave = made(1);
  EXPECT_FALSE(read_wave_jobs(wave));
  write_wave_runs(wave, {{"/a"}, {"/b"}, {"/c"}});
  write_wave_jobs(
      wave,
      {.arrays = {{.job = "12", .first = 1, .tasks = 2}}, .closing = "13", .program_sha256 = "ab"});
  const auto jobs = read_wave_jobs(wave);
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->arrays.at(0).job, "12");
  EXPECT_EQ(jobs->arrays.at(0).first, 1);
  EXPECT_EQ(jobs->arrays.at(0).tasks, 2);
  EXPECT_EQ(jobs->closing, "13");
  std::ofstream(wave.jobs()) << "{";
  EXPECT_FALSE(read_wave_jobs(wave));
}

TEST_F(WaveTest, JobsWhoseTasksHaveNoRunsAreDamaged) {
  const auto wave = made(1);
  write_wave_runs(wave, {{"/a"}, {"/b"}});
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const auto& [first, tasks] :
       {std::pair<int64_t, int64_t>{0, 3}, {2, 1}, {-1, 1}, {1, -1}, {1, kMost}, {kMost, 1}}) {
    write_wave_jobs(wave, {.arrays = {{.job = "12", .first = first, .tasks = tasks}}});
    EXPECT_FALSE(read_wave_jobs(wave)) << first << " " << tasks;
  }
}

}  // namespace
}  // namespace ablate::records
