#include "training/device.h"

#include <gtest/gtest.h>

#include "tests/says.h"

namespace ablate::training {
namespace {

TEST(Device, ShortProductsOnCudaBeginWithAmpere) {
  EXPECT_FALSE(cuda_has_short_products(6));  // P100
  EXPECT_FALSE(cuda_has_short_products(7));  // V100 and T4
  EXPECT_TRUE(cuda_has_short_products(8));   // A100
  EXPECT_TRUE(cuda_has_short_products(9));   // H100
}

TEST(Device, ThatCannotBeAskedHasNoShortProducts) {
  for (const auto precision : {Precision::bf16, Precision::tf32})
    if (torch::cuda::is_available()) {
      EXPECT_NO_THROW(has_products(precision, torch::kCUDA));
    } else {
      EXPECT_FALSE(has_products(precision, torch::kCUDA)) << "no CUDA device multiplies anything";
    }
}

TEST(Device, ACpuHasNoTf32) {
  EXPECT_TRUE(has_products(Precision::fp32, torch::kCPU));
  EXPECT_FALSE(has_products(Precision::tf32, torch::kCPU));
}

TEST(Device, AutomaticIsCudaWhereThereIsOne) {
  const bool cuda = torch::cuda::is_available();
  EXPECT_EQ(resolve(Device::automatic).is_cuda(), cuda);
  EXPECT_TRUE(resolve(Device::cpu).is_cpu());
  if (!cuda) {
    EXPECT_THROW(resolve(Device::cuda), DeviceError);
  }
}

TEST(Device, ARefusalSaysWhyThereIsNoCuda) {
  if (torch::cuda::is_available()) GTEST_SKIP() << "there is a device";
  EXPECT_EQ(resolve(Device::automatic), torch::kCPU);
  const std::string reason = why_no_cuda();
  EXPECT_TRUE(reason.starts_with("this LibTorch is one for ") ||
              reason.starts_with("the NVIDIA driver"))
      << reason;
  EXPECT_EQ(
      refusal_of<DeviceError>([&] { resolve(Device::cuda); }),
      "training.device is cuda, but there is no CUDA device: " + reason + "; use auto or cpu");
}

/// CUDA's words for its failures, of which only the allocator's have a type of their own.
TEST(Device, WantOfMemoryIsToldFromOtherFaults) {
  const c10::SourceLocation here{__func__, __FILE__, __LINE__};
  const std::vector<std::string> of_memory = {
      "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported",
      "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
      "CUDA driver error: out of memory", "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
      "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`"};
  for (const auto& text : of_memory) {
    EXPECT_TRUE(is_out_of_memory(c10::AcceleratorError(here, 2, text))) << text;
    EXPECT_TRUE(is_out_of_memory(c10::Error(here, text))) << text;
    EXPECT_FALSE(is_device_fault(c10::AcceleratorError(here, 2, text))) << text;
  }
  const std::string illegal = "CUDA error: an illegal memory access was encountered";
  EXPECT_TRUE(is_device_fault(c10::AcceleratorError(here, 700, illegal)));
  for (const std::string of_device :
       {"CUDA error: CUBLAS_STATUS_EXECUTION_FAILED", "CUDA driver error: unknown error",
        "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "cuDNN Frontend error: no plan",
        "cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR"}) {
    EXPECT_TRUE(is_device_fault(c10::Error(here, of_device))) << of_device;
    EXPECT_FALSE(is_out_of_memory(c10::Error(here, of_device))) << of_device;
  }
  EXPECT_FALSE(is_out_of_memory(c10::AcceleratorError(here, 700, illegal)));
  EXPECT_FALSE(is_device_fault(c10::Error(here, "mat1 and mat2 shapes cannot be multiplied")));
}

}  // namespace
}  // namespace ablate::training
