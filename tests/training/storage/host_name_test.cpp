#include <gtest/gtest.h>

#include <fstream>

#include "training/storage/durable_file.h"

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
