#include "training/device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>

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

namespace {

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

namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargest = size_t{1} << 60;
constexpr size_t kMapped = size_t{1} << 20;  // from here on pages come from the system directly

/// Stored in the kAlignment bytes before a block's data.
struct Header {
  size_t size_class;
};

/// Eight size classes per octave, from 64 bytes on.
size_t class_of(size_t bytes) {
  const size_t size = std::max(bytes, kAlignment) - 1;
  const auto octave = static_cast<size_t>(std::bit_width(size)) - 1;  // 5 for 64 bytes
  const size_t step = (size >> (octave - 3)) & 7;
  return octave * 8 + step;
}

size_t size_of(size_t size_class) {
  const size_t octave = size_class / 8, step = size_class % 8;
  return (8 + step + 1) << (octave - 3);
}

void* new_block(size_t bytes) {
  void* block = nullptr;
  if (bytes + kAlignment >= kMapped) {
    block = mmap(nullptr, bytes + kAlignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                 -1, 0);
    if (block == MAP_FAILED) return nullptr;
    madvise(block, bytes + kAlignment, MADV_HUGEPAGE);
  } else if (posix_memalign(&block, kAlignment, bytes + kAlignment) != 0) {
    return nullptr;
  }
  return block;
}

void delete_block(void* block, size_t bytes) {
  if (bytes + kAlignment >= kMapped)
    munmap(block, bytes + kAlignment);
  else
    std::free(block);
}

void* block_of(void* data) { return static_cast<char*>(data) - kAlignment; }

}  // namespace

/// The smallest size class from `wanted` to 1.5 times `wanted` with a kept block; else `wanted`.
/// Otherwise sizes that grow with every step of a search would need new pages every time.
size_t CachingAllocator::fitting(size_t wanted) const {
  for (size_t larger = wanted; larger < std::min(wanted + 5, kClasses); ++larger)
    if (!kept_[larger].empty()) return larger;
  return wanted;
}

void* CachingAllocator::take(size_t bytes) {
  if (bytes > kLargest) throw std::bad_alloc();
  std::unique_lock lock(mutex_);
  const size_t size_class = fitting(class_of(bytes)), size = size_of(size_class);
  if (auto& kept = kept_[size_class]; !kept.empty()) {
    void* data = kept.back();
    kept.pop_back();
    statistics_.kept -= size;
    count(size);
    return data;
  }
  const size_t in_use = statistics_.in_use + size;
  Blocks unused;
  if (statistics_.kept + in_use > std::max(2 * std::max(statistics_.most, in_use), kSpare))
    unused = take_kept();
  lock.unlock();  // the system call may be slow
  delete_all(unused);
  void* block = new_block(size);
  if (block == nullptr) {
    lock.lock();
    unused = take_kept();
    lock.unlock();
    delete_all(unused);
    block = new_block(size);
  }
  if (block == nullptr) throw std::bad_alloc();
  new (block) Header{size_class};
  lock.lock();
  count(size);
  return static_cast<char*>(block) + kAlignment;
}

void CachingAllocator::count(size_t size) {
  statistics_.in_use += size;
  statistics_.most = std::max(statistics_.most, statistics_.in_use);
}

void CachingAllocator::give(void* data) {
  const size_t size_class = static_cast<Header*>(block_of(data))->size_class;
  const std::lock_guard lock(mutex_);
  kept_[size_class].push_back(data);
  statistics_.kept += size_of(size_class);
  statistics_.in_use -= size_of(size_class);
}

CachingAllocator::Blocks CachingAllocator::take_kept() {
  statistics_.kept = 0;
  return std::exchange(kept_, {});
}

void CachingAllocator::delete_all(const Blocks& blocks) {
  for (size_t size_class = 0; size_class < kClasses; ++size_class)
    for (void* data : blocks[size_class]) delete_block(block_of(data), size_of(size_class));
}

c10::DataPtr CachingAllocator::allocate(size_t bytes) {
  void* data = bytes == 0 ? nullptr : take(bytes);
  return {data, data, &release, c10::Device(c10::kCPU)};
}

void CachingAllocator::release(void* data) {
  if (data != nullptr) instance().give(data);
}

c10::DeleterFnPtr CachingAllocator::raw_deleter() const { return &release; }

void CachingAllocator::copy_data(void* to, const void* from, size_t bytes) const {
  std::memcpy(to, from, bytes);
}

CachingAllocator::Statistics CachingAllocator::statistics() {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

CachingAllocator& CachingAllocator::instance() {
  static auto* const allocator = new CachingAllocator;
  return *allocator;
}

void CachingAllocator::install() { c10::SetAllocator(c10::kCPU, &instance(), 255); }

}  // namespace ablate::training
