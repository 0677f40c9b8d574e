#include "training/device.h"

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

bool has_bfloat16(torch::Device device) {
  if (!device.is_cpu()) return true;
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

}  // namespace ablate::training
