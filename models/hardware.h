#pragma once

#include <string>

namespace ablate::models {

/// A CUDA device as its driver describes it.
struct CudaDevice {
  int compute_capability = 0;  // its major number: 8 of Ampere, 9 of Hopper
  std::string name;
  std::string uuid;     // 16 bytes, those of a MIG instance if the device is one
  int newest_cuda = 0;  // that the driver serves: 13000 for CUDA 13.0
};

/// The first CUDA device that this process may use; zero and empty if there is none, or none that
/// answers.
const CudaDevice& cuda_device();

/// Whether MKL, with which LibTorch multiplies fp32 matrices on x86, may use on an AMD processor in
/// a program that is linked with experiments/mkl_answer.cpp the code of the processor's instruction
/// set. On its own it keeps that code for Intel's and gives others a slower one. Allowed from the
/// start; say otherwise before the first product, since MKL asks only once. The practice: D. Jones,
/// "Intel MKL on AMD Zen" (danieldk.eu, 2020).
void allow_mkl_fast_path(bool allowed);

/// Whether MKL uses that code here: on Intel's processors always, on AMD's if it is allowed and the
/// processor has AVX2.
bool mkl_takes_fast_path();

}  // namespace ablate::models
