#pragma once

namespace ablate::models::kernel {

/// Instruction sets that kernels are compiled for: x86-64-v4, x86-64-v3 and any.
enum class Isa { any, avx2, avx512 };

/// The widest that this processor has and ATEN_CPU_CAPABILITY, by which LibTorch's own kernels are
/// held back, allows: "default" is any, "avx2" no more than AVX2.
Isa isa();

template <auto F, class... A>
__attribute__((target("arch=x86-64-v4"))) auto on_avx512(A... arguments) {
  return F(arguments...);
}
template <auto F, class... A>
__attribute__((target("arch=x86-64-v3"))) auto on_avx2(A... arguments) {
  return F(arguments...);
}
template <auto F, class... A>
auto on_any(A... arguments) {
  return F(arguments...);
}

/// Calls an ABLATE_INLINE function that is compiled for each instruction set, on the widest.
/// Arguments are passed by value.
template <auto F, class... A>
auto on_widest(A... arguments) {
  switch (isa()) {
    case Isa::avx512:
      return on_avx512<F>(arguments...);
    case Isa::avx2:
      return on_avx2<F>(arguments...);
    case Isa::any:
      break;
  }
  return on_any<F>(arguments...);
}

}  // namespace ablate::models::kernel
