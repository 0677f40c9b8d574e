#include "models/kernel/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ablate::models::kernel {
namespace {

Isa of_processor() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Isa::avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                 __builtin_cpu_supports("bmi2")
             ? Isa::avx2
             : Isa::any;
}

Isa allowed() {
  const char* capability = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string_view name = capability == nullptr ? "" : capability;
  return name == "default" ? Isa::any : name == "avx2" ? Isa::avx2 : Isa::avx512;
}

}  // namespace

Isa isa() {
  static const Isa found = std::min(of_processor(), allowed());
  return found;
}

}  // namespace ablate::models::kernel
