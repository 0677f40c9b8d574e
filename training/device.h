#pragma once

#include <stdexcept>

#include "models/libtorch.h"
#include "training/device_options.h"

namespace ablate::training {

/// The machine lacks what the configuration asks for.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `automatic` is CUDA where there is one. Throws DeviceError where CUDA is asked for and missing.
torch::Device resolve(Device device);

/// Whether CUDA devices of this compute capability multiply bfloat16 and TF32 numbers: from 8.0
/// (Ampere) on.
constexpr bool cuda_has_short_products(int compute_capability_major) {
  return compute_capability_major >= 8;
}

/// Whether products of this precision run in hardware: bf16 with AVX-512 BF16 or AMX on a CPU, bf16
/// and tf32 on Ampere or later on CUDA. False where the device cannot be asked.
bool has_products(Precision precision, torch::Device device);

/// Bytes: the most that this process held so far, on CUDA the most that tensors took there.
int64_t peak_memory(torch::Device device);

}  // namespace ablate::training
