#include "training/process/machine.h"

#include "tests/experiments/program.h"
#include "tests/folder.h"

namespace ablate::training {
namespace {

/// A folder with the files in which Linux shows a process its control groups.
class GroupLimitsTest : public testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    write_file(root_ / name, text);
  }

  const Folder own_;
  const std::filesystem::path root_ = own_.path;
};

TEST_F(GroupLimitsTest, WithoutGroupsThereIsNoLimit) {
  EXPECT_EQ(group_limits(root_).cores, std::numeric_limits<double>::infinity());
  EXPECT_EQ(group_limits(root_).memory, std::numeric_limits<double>::infinity());
}

TEST_F(GroupLimitsTest, TheTightestOfAGroupAndThoseAboveItHolds) {
  file("proc/self/cgroup", "0::/job/step\n");
  file("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/job/memory.max", "max\n");
  file("sys/fs/cgroup/job/step/memory.max", "1000\n");
  file("sys/fs/cgroup/job/step/memory.current", "700\n");
  file("sys/fs/cgroup/job/step/memory.stat", "anon 600\ninactive_file 100\n");
  EXPECT_EQ(group_limits(root_).cores, 1.5);
  EXPECT_EQ(group_limits(root_).memory, 400);
}

TEST_F(GroupLimitsTest, AContainersGroupOfVersionOneStandsAtTheTop) {
  file("proc/self/cgroup", "5:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n1:name=systemd:/\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000\n");
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1500\n");
  file("sys/fs/cgroup/memory/memory.stat", "cache 900\ntotal_inactive_file 500\n");
  EXPECT_EQ(group_limits(root_).cores, 2);
  EXPECT_EQ(group_limits(root_).memory, 4000);
}

TEST_F(GroupLimitsTest, AGroupOfVersionOneWithoutAQuotaLimitsNothing) {
  file("proc/self/cgroup", "4:cpu:/\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(group_limits(root_).cores, std::numeric_limits<double>::infinity());
}

TEST_F(GroupLimitsTest, AGroupThatHasTakenAllLeavesNothing) {
  file("proc/self/cgroup", "0::/\n");
  file("sys/fs/cgroup/memory.max", "1000\n");
  file("sys/fs/cgroup/memory.current", "1200\n");
  EXPECT_EQ(group_limits(root_).memory, 0);
}

TEST(Machine, ThereIsACoreAndSomeMemory) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_GT(available_memory(), 0);
}

}  // namespace
}  // namespace ablate::training
