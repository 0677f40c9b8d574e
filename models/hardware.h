#pragma once

namespace ablate::models {

/// Major compute capability of the first CUDA device that this process may use: 8 of Ampere, 9 of
/// Hopper. 0 if there is none, or none that answers.
int cuda_compute_capability();

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
