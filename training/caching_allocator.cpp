#include "training/caching_allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace ablate::training {
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
