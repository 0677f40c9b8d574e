#pragma once

namespace ablate::models::kernel {

/// Instruction sets that matrix products are written for.
enum class Isa { any, avx2, avx512 };

/// The widest that this processor has and ATEN_CPU_CAPABILITY, by which LibTorch's own kernels are
/// held back, allows: "default" is any, "avx2" no more than AVX2.
Isa isa();

}  // namespace ablate::models::kernel
