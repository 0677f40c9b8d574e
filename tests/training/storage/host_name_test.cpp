#include "training/storage/host_name.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ablate::training {
namespace {

TEST(HostName, IsWhatTheKernelCallsTheHost) {
  std::string name;
  std::ifstream file("/proc/sys/kernel/hostname");
  std::getline(file, name);
  EXPECT_EQ(host_name(), name);
}

}  // namespace
}  // namespace ablate::training
