#include "models/cuda.h"

#include <dlfcn.h>

namespace ablate::models {
namespace {

/// Asks CUDA's driver, which LibTorch has loaded: the headers of LibTorch that know the answer are
/// those of its CUDA build alone.
int ask_driver() {
  constexpr int kComputeCapabilityMajor = 75;  // of CUdevice_attribute
  using DeviceGet = int (*)(int* cuda_device, int ordinal);
  using DeviceGetAttribute = int (*)(int* value, int attribute, int cuda_device);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  if (driver == nullptr) return 0;
  const auto get = reinterpret_cast<DeviceGet>(dlsym(driver, "cuDeviceGet"));
  const auto attribute =
      reinterpret_cast<DeviceGetAttribute>(dlsym(driver, "cuDeviceGetAttribute"));
  int cuda_device = 0, major = 0;
  const bool answered = get != nullptr && attribute != nullptr && get(&cuda_device, 0) == 0 &&
                        attribute(&major, kComputeCapabilityMajor, cuda_device) == 0;
  return answered ? major : 0;
}

}  // namespace

int cuda_compute_capability() {
  static const int major = ask_driver();
  return major;
}

}  // namespace ablate::models
