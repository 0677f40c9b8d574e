#pragma once

#include <c10/core/Allocator.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

namespace ablate::training {

/// Memory of CPU tensors, kept for the next tensor of similar size instead of being freed. Batches
/// of varying shapes fragment the C library's heap, which adds up over a long run; here blocks in
/// use and kept together stay within twice the peak use, or kSpare. A new block is at most an
/// eighth larger than requested (64 bytes at least), a kept one at most five eighths. Data is
/// aligned to 64 bytes. Safe for several threads.
class CachingAllocator : public c10::Allocator {
 public:
  static constexpr size_t kSpare = size_t{256} << 20;  // decoding shrinks and grows all the time

  c10::DataPtr allocate(size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, size_t bytes) const override;

  struct Statistics {
    size_t in_use = 0;  // bytes of blocks that tensors hold
    size_t most = 0;    // the largest in_use so far
    size_t kept = 0;    // bytes of blocks that wait for a tensor
  };
  Statistics statistics();

  /// The allocator of this process, which is never destroyed: tensors may outlive main.
  static CachingAllocator& instance();
  /// From here on every CPU tensor's memory comes from `instance()`.
  static void install();

 private:
  static constexpr size_t kClasses = 512;
  using Blocks = std::array<std::vector<void*>, kClasses>;  // of each size
  static void release(void* data);
  void* take(size_t bytes);
  void give(void* data);
  void count(size_t size);
  Blocks take_kept();
  static void delete_all(const Blocks& blocks);
  size_t fitting(size_t wanted) const;

  std::mutex mutex_;
  Blocks kept_;
  Statistics statistics_;
};

}  // namespace ablate::training
