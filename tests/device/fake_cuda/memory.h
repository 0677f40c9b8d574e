#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>

#include <array>
#include <map>
#include <mutex>
#include <vector>

namespace fake_cuda {

inline const c10::Device kDevice(c10::DeviceType::CUDA, 0);

/// The memory of the device. Tensors hold addresses of pages that nobody may touch, so a host that
/// follows one dies of SIGSEGV, as it would on CUDA. Operators use a second mapping of the pages.
class Memory final : public c10::DeviceAllocator {
 public:
  static Memory& instance();

  /// Where the host may touch what lies at an address of the device.
  char* host_address(const void* device_address) const;
  /// Fills the memory of a tensor with NaN of every type of floating-point numbers.
  void spoil(void* data) const;

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, size_t bytes) const override;
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override;
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override;
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override;

 private:
  struct Header;

  Memory();
  static void release(void* data);
  Header& header_of(const void* data) const;
  /// The released blocks of this kind.
  std::vector<char*>& released_like(const Header& header);
  /// A block of this kind, one that was released or else a new one.
  char* take(const Header& header);

  std::mutex mutex_;
  char* locked_ = nullptr;            // the address that tensors have
  char* open_ = nullptr;              // the same pages, for operators
  size_t used_ = 0;                   // bytes of the pages that were ever handed out
  int64_t allocated_ = 0, peak_ = 0;  // bytes that tensors asked for
  /// Blocks of 2^i bytes, those of captures apart.
  std::array<std::array<std::vector<char*>, 64>, 2> released_;
};

/// Memory of the host that the device may read while the host goes on.
class PinnedMemory final : public c10::Allocator {
 public:
  static PinnedMemory& instance();

  bool holds(const void* data) const;

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, size_t bytes) const override;

 private:
  static void release(void* data);

  mutable std::mutex mutex_;
  std::map<const void*, size_t> blocks_;
};

}  // namespace fake_cuda
