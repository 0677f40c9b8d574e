// A real device, where a LibTorch for CUDA takes the place of the stand-in.
#include <gtest/gtest.h>

#include "models/libtorch.h"
#include "tests/device/fake_cuda/counts.h"
#include "training/device.h"

namespace fake_cuda {

bool is_present() { return false; }
Counts counts() { return {}; }

}  // namespace fake_cuda

namespace {

struct Device : testing::Environment {
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << ablate::training::why_no_cuda();
  }
};

[[maybe_unused]] const auto* const device = testing::AddGlobalTestEnvironment(new Device);

}  // namespace
