#pragma once

namespace ablate::models::kernel {

/// Instruction sets that kernels are compiled for: x86-64-v4, x86-64-v3 and any.
enum class Isa { any, avx2, avx512 };

/// The widest that this processor has and ATEN_CPU_CAPABILITY, by which LibTorch's own kernels are
/// held back, allows: "default" is any, "avx2" no more than AVX2.
Isa isa();

// The features of the levels by name: GCC knows "arch=x86-64-v3" from version 11 on.
#define ABLATE_X86_64_V3 "avx2,bmi,bmi2,cx16,f16c,fma,fxsr,lzcnt,movbe,popcnt,sahf,xsave"
#define ABLATE_X86_64_V4 ABLATE_X86_64_V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"

template <auto F, class... A>
__attribute__((target(ABLATE_X86_64_V4))) auto on_avx512(A... arguments) {
  return F(arguments...);
}
template <auto F, class... A>
__attribute__((target(ABLATE_X86_64_V3))) auto on_avx2(A... arguments) {
  return F(arguments...);
}
template <auto F, class... A>
auto on_any(A... arguments) {
  return F(arguments...);
}

/// Calls an ABLATE_INLINE function on the widest instruction set, in the form for its registers.
/// Arguments are passed by value.
template <auto Avx512, auto Avx2, auto Any, class... A>
auto on_widest_of(A... arguments) {
  switch (isa()) {
    case Isa::avx512:
      return on_avx512<Avx512>(arguments...);
    case Isa::avx2:
      return on_avx2<Avx2>(arguments...);
    case Isa::any:
      break;
  }
  return on_any<Any>(arguments...);
}

/// The same of one that has one form.
template <auto F, class... A>
auto on_widest(A... arguments) {
  return on_widest_of<F, F, F>(arguments...);
}

}  // namespace ablate::models::kernel
