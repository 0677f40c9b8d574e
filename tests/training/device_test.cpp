#include "training/device.h"

#include <gtest/gtest.h>

namespace ablate::training {
namespace {

TEST(Device, BFloat16OnCudaBeginsWithAmpere) {
  EXPECT_FALSE(cuda_has_bfloat16(6));  // P100
  EXPECT_FALSE(cuda_has_bfloat16(7));  // V100 and T4
  EXPECT_TRUE(cuda_has_bfloat16(8));   // A100
  EXPECT_TRUE(cuda_has_bfloat16(9));   // H100
}

TEST(Device, ThatCannotBeAskedHasNoBFloat16) {
  if (torch::cuda::is_available()) {
    EXPECT_NO_THROW(has_bfloat16(torch::kCUDA));
  } else {
    EXPECT_FALSE(has_bfloat16(torch::kCUDA)) << "no CUDA device multiplies anything here";
  }
}

TEST(Device, AutomaticIsCudaWhereThereIsOne) {
  const bool cuda = torch::cuda::is_available();
  EXPECT_EQ(resolve(Device::automatic).is_cuda(), cuda);
  EXPECT_TRUE(resolve(Device::cpu).is_cpu());
  if (!cuda) {
    EXPECT_THROW(resolve(Device::cuda), DeviceError);
  }
}

}  // namespace
}  // namespace ablate::training
