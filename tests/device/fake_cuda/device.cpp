// The device itself: driver, streams, generators and the hooks by which LibTorch finds it.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "tests/device/fake_cuda/memory.h"
#include "tests/device/fake_cuda/recording.h"

namespace fake_cuda {
namespace {

/// One device with one stream, on which everything has happened as soon as it is asked for.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void synchronizeDevice(c10::DeviceIndex) const override {}

  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getStream(device);
  }
  c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}

  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
};

/// Belongs to the device; its copies are generators of the CPU, whose kernels draw from them.
struct Generator final : at::CPUGeneratorImpl {
  Generator() : CPUGeneratorImpl(c10::detail::getNonDeterministicRandom()) {
    device_ = kDevice;
    key_set_ = c10::DispatchKeySet(c10::DispatchKey::CUDA);
  }

 private:
  CPUGeneratorImpl* clone_impl() const override {
    refuse_in_capture("a new generator");
    auto copy = std::make_unique<CPUGeneratorImpl>();
    copy->set_state(*get_state());
    return copy.release();
  }
};

struct Hooks final : at::CUDAHooksInterface {
  explicit Hooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  int getNumGPUs() const override { return 1; }
  c10::DeviceIndex current_device() const override { return 0; }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  void deviceSynchronize(c10::DeviceIndex) const override {}
  std::string showConfig() const override { return "a stand-in for CUDA"; }
  at::Device getDeviceFromPtr(void*) const override { return kDevice; }
  at::Allocator* getCUDADeviceAllocator() const override { return &Memory::instance(); }
  at::Allocator* getPinnedMemoryAllocator() const override {
    refuse_in_capture("pinned memory");
    return &PinnedMemory::instance();
  }
  bool isPinnedPtr(const void* data) const override { return PinnedMemory::instance().holds(data); }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::make_generator<Generator>();
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    static const auto one = at::make_generator<Generator>();
    return one;
  }
};

}  // namespace
}  // namespace fake_cuda

using FakeCudaGuard = fake_cuda::Guard;
C10_REGISTER_GUARD_IMPL(CUDA, FakeCudaGuard)

namespace at {
using FakeCudaHooks = fake_cuda::Hooks;
C10_REGISTER_TYPED_CLASS(CUDAHooksRegistry, "CUDAHooks", FakeCudaHooks)
}  // namespace at

// What is asked of CUDA's driver, in whose name this library is loaded: a device of compute
// capability 9.0.
extern "C" {
int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuDeviceGet(int* device, int ordinal);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDeviceGetName(char* name, int length, int device);
int cuDeviceGetUuid_v2(char* uuid, int device);
}

namespace {
bool initialized = false;  // without which the driver answers nothing else
}

int cuInit(unsigned) {
  initialized = true;
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 13'000;
  return 0;
}

int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<size_t>(length), "stand-in");
  return 0;
}

int cuDeviceGetUuid_v2(char* uuid, int) {
  std::memcpy(uuid, "sixteen letters.", 16);
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  constexpr int kNotInitialized = 3;
  *device = ordinal;
  return initialized ? 0 : kNotInitialized;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  constexpr int kComputeCapabilityMajor = 75;
  *value = attribute == kComputeCapabilityMajor ? 9 : 0;
  return 0;
}
