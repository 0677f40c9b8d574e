#include "models/hardware.h"

#include <dlfcn.h>

#include <atomic>

namespace ablate::models {
namespace {

/// Asks the CUDA driver that LibTorch has loaded, since only the CUDA build of LibTorch has a
/// header for it.
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

namespace {

std::atomic<bool> amd_allowed = true;

}  // namespace

void allow_mkl_fast_path(bool allowed) { amd_allowed = allowed; }

bool mkl_takes_fast_path() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel")) return true;
  return amd_allowed && __builtin_cpu_is("amd") && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

}  // namespace ablate::models
