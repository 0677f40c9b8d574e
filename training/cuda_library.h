#pragma once

namespace ablate::training {

/// A function of libablate_cuda.so, the part of the program that is compiled against CUDA and needs
/// a LibTorch for CUDA (training/cuda). It lies beside the program and is loaded at the first call,
/// so that the program itself runs with any LibTorch of its version. Null if this build lacks it.
/// Throws DeviceError if it cannot be loaded.
void* cuda_function(const char* name);

}  // namespace ablate::training
