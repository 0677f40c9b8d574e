#include "training/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <sys/resource.h>

#include <algorithm>

#include "models/cuda.h"

namespace ablate::training {

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

bool has_products(Precision precision, torch::Device device) {
  if (precision == Precision::fp32) return true;
  if (device.is_cuda()) return cuda_has_short_products(models::cuda_compute_capability());
  if (precision == Precision::tf32) return false;
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
