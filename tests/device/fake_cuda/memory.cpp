#include "tests/device/fake_cuda/memory.h"

#include <c10/util/Exception.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "tests/device/fake_cuda/counts.h"
#include "tests/device/fake_cuda/recording.h"

namespace fake_cuda {
namespace {

constexpr size_t kArena = size_t{1} << 35;  // addresses; a page takes memory once it is touched
constexpr size_t kHeaderBytes = 64;         // keeps the alignment that kernels expect

char* mapped(int file, int protection) {
  void* pages = mmap(nullptr, kArena, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  TORCH_CHECK(pages != MAP_FAILED, "cannot map the memory of the stand-in for CUDA");
  return static_cast<char*>(pages);
}

size_t capacity() {
  const char* bytes = std::getenv("FAKE_CUDA_BYTES");
  return bytes == nullptr ? kArena : std::strtoull(bytes, nullptr, 10);
}

const struct Install {
  Install() { c10::SetAllocator(c10::DeviceType::CUDA, &Memory::instance(), 255); }
} install;

}  // namespace

struct Memory::Header {
  size_t size;    // of the block, a power of 2
  size_t bytes;   // asked for
  bool captured;  // it was asked for in a capture
};

Memory& Memory::instance() {
  static auto* one = new Memory;  // never destroyed: tensors of static storage outlive main()
  return *one;
}

Memory::Memory() {
  const int file = memfd_create("fake-cuda", MFD_CLOEXEC);
  TORCH_CHECK(file >= 0 && ftruncate(file, kArena) == 0, "no memory for the stand-in for CUDA");
  locked_ = mapped(file, PROT_NONE);
  open_ = mapped(file, PROT_READ | PROT_WRITE);
  close(file);
}

char* Memory::host_address(const void* device_address) const {
  return open_ + (static_cast<const char*>(device_address) - locked_);
}

Memory::Header& Memory::header_of(const void* data) const {
  return *reinterpret_cast<Header*>(host_address(static_cast<const char*>(data) - kHeaderBytes));
}

void Memory::spoil(void* data) const {
  std::memset(host_address(data), 0xff, header_of(data).bytes);
}

std::vector<char*>& Memory::released_like(const Header& header) {
  return released_[header.captured ? 1 : 0][static_cast<size_t>(std::countr_zero(header.size))];
}

char* Memory::take(const Header& header) {
  if (auto& released = released_like(header); !released.empty()) {
    char* block = released.back();
    released.pop_back();
    return block;
  }
  TORCH_CHECK_WITH(OutOfMemoryError, used_ + header.size <= capacity(),
                   "the stand-in for CUDA is full");
  char* block = locked_ + used_;
  used_ += header.size;
  return block;
}

c10::DataPtr Memory::allocate(size_t bytes) {
  if (bytes == 0) return {nullptr, nullptr, &release, kDevice};
  auto* recording = Recording::now();
  const Header header{.size = std::bit_ceil(bytes + kHeaderBytes),
                      .bytes = bytes,
                      .captured = recording != nullptr};
  const std::lock_guard lock(mutex_);
  char* data = take(header) + kHeaderBytes;
  header_of(data) = header;
  allocated_ += static_cast<int64_t>(bytes);
  peak_ = std::max(peak_, allocated_);
  if (recording != nullptr) recording->allocated(data);
  return {data, data, &release, kDevice};
}

void Memory::release(void* data) {
  if (data == nullptr) return;
  throw_if_failed();
  auto& self = instance();
  const std::lock_guard lock(self.mutex_);
  const auto& header = self.header_of(data);
  self.allocated_ -= static_cast<int64_t>(header.bytes);
  self.released_like(header).push_back(static_cast<char*>(data) - kHeaderBytes);
}

c10::DeleterFnPtr Memory::raw_deleter() const { return &release; }

void Memory::copy_data(void* to, const void* from, size_t bytes) const {
  std::memcpy(host_address(to), host_address(from), bytes);
}

c10::CachingDeviceAllocator::DeviceStats Memory::getDeviceStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  c10::CachingDeviceAllocator::DeviceStats stats;
  stats.allocated_bytes[0].current = allocated_;
  stats.allocated_bytes[0].peak = peak_;
  stats.reserved_bytes[0].current = stats.reserved_bytes[0].peak = static_cast<int64_t>(used_);
  return stats;
}

void Memory::resetPeakStats(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  peak_ = allocated_;
}

std::pair<size_t, size_t> Memory::getMemoryInfo(c10::DeviceIndex) {
  const std::lock_guard lock(mutex_);
  return {capacity() - used_, capacity()};
}

PinnedMemory& PinnedMemory::instance() {
  static auto* one = new PinnedMemory;  // as above
  return *one;
}

bool PinnedMemory::holds(const void* data) const {
  const std::lock_guard lock(mutex_);
  const auto behind = blocks_.upper_bound(data);
  if (behind == blocks_.begin()) return false;
  const auto& [begin, bytes] = *std::prev(behind);
  return static_cast<const char*>(data) < static_cast<const char*>(begin) + bytes;
}

c10::DataPtr PinnedMemory::allocate(size_t bytes) {
  void* data = bytes == 0 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  const std::lock_guard lock(mutex_);
  if (data != nullptr) blocks_[data] = bytes;
  return {data, data, &release, c10::Device(c10::kCPU)};
}

void PinnedMemory::release(void* data) {
  auto& self = instance();
  const std::lock_guard lock(self.mutex_);
  self.blocks_.erase(data);
  std::free(data);
}

void PinnedMemory::copy_data(void* to, const void* from, size_t bytes) const {
  std::memcpy(to, from, bytes);
}

}  // namespace fake_cuda
