#include "models/hardware.h"

#include <dlfcn.h>

#include <array>
#include <atomic>

namespace ablate::models {
namespace {

/// The CUDA driver, which is loaded by name, since only the CUDA build of LibTorch has a header for
/// it.
class Driver {
 public:
  /// Whether the driver has this function and it succeeds.
  template <class... Arguments>
  bool call(const char* function, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto found = library_ == nullptr ? nullptr : dlsym(library_, function);
    return found != nullptr && reinterpret_cast<Function>(found)(arguments...) == 0;
  }

 private:
  void* library_ = dlopen("libcuda.so.1", RTLD_LAZY);
};

CudaDevice ask_driver() {
  constexpr int kComputeCapabilityMajor = 75;  // of CUdevice_attribute
  const Driver driver;
  CudaDevice device;
  int first = 0;
  if (!driver.call("cuInit", 0U) || !driver.call("cuDeviceGet", &first, 0)) return device;
  driver.call("cuDeviceGetAttribute", &device.compute_capability, kComputeCapabilityMajor, first);
  driver.call("cuDriverGetVersion", &device.newest_cuda);
  std::array<char, 256> name{};
  if (driver.call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), first))
    device.name = name.data();
  std::array<char, 16> uuid{};
  if (driver.call("cuDeviceGetUuid_v2", uuid.data(), first))
    device.uuid.assign(uuid.begin(), uuid.end());
  return device;
}

}  // namespace

const CudaDevice& cuda_device() {
  static const auto device = ask_driver();
  return device;
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
