#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

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

}  // namespace ablate::training
