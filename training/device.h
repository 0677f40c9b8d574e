#pragma once

#include <c10/core/Allocator.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/libtorch.h"
#include "training/process/progress.h"
#include "training/training_options.h"

namespace ablate::training {

/// The machine lacks a device that the configuration requests.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `automatic` is CUDA if there is a device. Throws DeviceError if CUDA is requested and missing.
/// After that, CUDA multiplies float numbers without TF32, and its attention does not use cuDNN.
torch::Device resolve(Device device);

/// Whether CUDA multiplies float matrices in TF32, with a fraction of 10 bits; cuDNN's recurrent
/// layers and convolutions, too.
void allow_tf32(bool allowed);

/// Why LibTorch has no CUDA device here, as a clause; empty if it has one.
std::string why_no_cuda();

/// Whether CUDA devices of this compute capability multiply bfloat16 and TF32 numbers: from 8.0
/// (Ampere) on.
constexpr bool cuda_has_short_products(int compute_capability_major) {
  return compute_capability_major >= 8;
}

/// Whether products of this precision run in hardware: bf16 with AVX-512 BF16 or AMX on a CPU, bf16
/// and tf32 on Ampere or later on CUDA. False if the device cannot be queried.
bool has_products(Precision precision, torch::Device device);

/// What the processes that use a CUDA device need of its memory: this one's peak, its context and
/// libraries included, and what others take now.
GpuMemory gpu_memory(torch::Device device);

/// Peak memory of this process in bytes; on CUDA, what LibTorch reserved for tensors and graphs.
int64_t peak_memory(torch::Device device);

/// GPUs that LibTorch can use here.
int64_t gpu_count();

/// Out of memory for the purpose that the message names.
struct OutOfMemory : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether the error means out of memory, on a CUDA device included. oneDNN does not report its
/// reasons, so its errors never count.
bool is_out_of_memory(const std::exception& error);

/// Whether a CUDA device, its driver or one of its libraries has failed, other than for want of
/// memory. Nothing can be computed there afterwards by this process, nor freed without an error.
bool is_device_fault(const std::exception& error);

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
