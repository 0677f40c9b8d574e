#include "training/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>
#include <string>
#include <string_view>

#include "models/hardware.h"
#include "models/libtorch.h"

namespace ablate::training {

namespace {

/// LibTorch gives some of its advice in every pass, such as on an LSTM's weights.
class WarningsOnce final : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (said_.insert(warning.msg()).second) c10::WarningHandler::process(warning);
  }

 private:
  std::set<std::string> said_;
};

/// cuDNN's attention takes about a second to plan each shape of a batch, of which a training has
/// up to a hundred and decoding a new one in every step, and its gradient is not deterministic.
torch::Device prepared_cuda() {
  at::globalContext().setSDPUseCuDNN(false);
  allow_tf32(false);
  static thread_local WarningsOnce warnings;
  c10::WarningUtils::set_warning_handler(&warnings);
  return torch::kCUDA;
}

c10::DeviceIndex gpu_number(torch::Device device) {
  return std::max<c10::DeviceIndex>(device.index(), 0);
}

c10::CachingAllocator::Stat reserved_on(torch::Device device) {
  constexpr auto all = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return c10::getDeviceAllocator(device.type())
      ->getDeviceStats(gpu_number(device))
      .reserved_bytes[all];
}

}  // namespace

void allow_tf32(bool allowed) {
  at::globalContext().setAllowTF32CuBLAS(allowed);
  at::globalContext().setAllowTF32CuDNN(allowed);
}

torch::Device resolve(Device device) {
  switch (device) {
    case Device::automatic:
      return torch::cuda::is_available() ? prepared_cuda() : torch::kCPU;
    case Device::cpu:
      return torch::kCPU;
    case Device::cuda:
      if (!torch::cuda::is_available())
        throw DeviceError("training.device is cuda, but there is no CUDA device: " + why_no_cuda() +
                          "; use auto or cpu");
      return prepared_cuda();
  }
  TORCH_CHECK(false, "invalid Device ", static_cast<int>(device));
}

std::string why_no_cuda() {
  if (torch::cuda::is_available()) return "";
  if (dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD) == nullptr)
    return "this LibTorch is one for CPUs";
  if (dlopen("libcuda.so.1", RTLD_LAZY) == nullptr)
    return "this LibTorch is one for CUDA, but the NVIDIA driver is not installed";
  return "the NVIDIA driver shows none, or is too old for this LibTorch; see nvidia-smi";
}

bool has_products(Precision precision, torch::Device device) {
  if (precision == Precision::fp32) return true;
  if (device.is_cuda()) return cuda_has_short_products(models::cuda_device().compute_capability);
  if (precision == Precision::tf32) return false;
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

GpuMemory gpu_memory(torch::Device device) {
  const auto [free, total] =
      c10::getDeviceAllocator(device.type())->getMemoryInfo(gpu_number(device));
  const auto reserved = reserved_on(device);
  return {.needed = static_cast<int64_t>(total - free) - reserved.current + reserved.peak,
          .total = static_cast<int64_t>(total)};
}

int64_t peak_memory(torch::Device device) {
  if (device.is_cuda()) return reserved_on(device).peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;  // Linux counts in KiB
}

int64_t gpu_count() { return static_cast<int64_t>(torch::cuda::device_count()); }

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr)
    return true;
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  if (of_torch == nullptr) return false;
  const std::string_view message = of_torch->what_without_backtrace();
  constexpr std::array kOfMemory{"not enough memory", "can't allocate memory",
                                 "CUDA error: out of memory", "CUDA driver error: out of memory",
                                 "_STATUS_ALLOC_FAILED"};  // of cuBLAS, cuDNN, cuSOLVER
  return std::ranges::any_of(kOfMemory,
                             [&](const char* text) { return message.find(text) != message.npos; });
}

bool is_device_fault(const std::exception& error) {
  if (is_out_of_memory(error)) return false;
  if (dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr) return true;
  const auto* of_torch = dynamic_cast<const c10::Error*>(&error);
  if (of_torch == nullptr) return false;
  constexpr std::array kOfDevice{"CUDA error: ", "CUDA driver error: ", "cuDNN error: ",
                                 "cuDNN Frontend error: ", "cusolver error: "};
  return std::ranges::any_of(kOfDevice,
                             [message = std::string_view(of_torch->what_without_backtrace())](
                                 const char* text) { return message.starts_with(text); });
}

}  // namespace ablate::training
