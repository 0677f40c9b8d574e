#pragma once

#include <gtest/gtest.h>

#include "tests/device/fake_cuda/counts.h"

namespace ablate {

/// Claims about what the host waits for and launches, which a real device does not count.
class CountedDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!fake_cuda::is_present()) GTEST_SKIP() << "only the stand-in counts";
  }
};

}  // namespace ablate
