#include "training/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>

namespace ablate::training {
namespace {

/// Asks CUDA's driver, which LibTorch has loaded: the headers of LibTorch that know the answer are
/// those of its CUDA build alone. 0 where there is no answer.
int compute_capability_major(torch::Device device) {
  constexpr int kComputeCapabilityMajor = 75;  // of CUdevice_attribute
  using DeviceGet = int (*)(int* cuda_device, int ordinal);
  using DeviceGetAttribute = int (*)(int* value, int attribute, int cuda_device);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  if (driver == nullptr) return 0;
  const auto get = reinterpret_cast<DeviceGet>(dlsym(driver, "cuDeviceGet"));
  const auto attribute =
      reinterpret_cast<DeviceGetAttribute>(dlsym(driver, "cuDeviceGetAttribute"));
  int cuda_device = 0, major = 0;
  const bool answered = get != nullptr && attribute != nullptr &&
                        get(&cuda_device, std::max<int>(device.index(), 0)) == 0 &&
                        attribute(&major, kComputeCapabilityMajor, cuda_device) == 0;
  return answered ? major : 0;
}

}  // namespace

torch::Device resolve(Device device) {
  switch (device) {
    case Device::automatic:
      return torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    case Device::cpu:
      return torch::kCPU;
    case Device::cuda:
      if (!torch::cuda::is_available())
        throw DeviceError(
            "training.device is cuda, but this LibTorch sees no CUDA device; use auto or cpu");
      return torch::kCUDA;
  }
  TORCH_CHECK(false, "invalid Device ", static_cast<int>(device));
}

bool has_bfloat16(torch::Device device) {
  if (device.is_cuda()) return cuda_has_bfloat16(compute_capability_major(device));
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

int64_t peak_memory(torch::Device device) {
  if (device.is_cuda()) {
    const auto statistics = c10::getDeviceAllocator(device.type())
                                ->getDeviceStats(std::max<c10::DeviceIndex>(device.index(), 0));
    constexpr auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
    return statistics.allocated_bytes[all].peak;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;  // Linux counts in KiB
}

int64_t gpu_count() { return static_cast<int64_t>(torch::cuda::device_count()); }

}  // namespace ablate::training
