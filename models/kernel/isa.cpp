#include "models/kernel/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ablate::models::kernel {
namespace {

/// By those features of the levels that tell processors apart and that GCC 10 can ask for.
Isa of_processor() {
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::avx512 : v3 ? Isa::avx2 : Isa::any;
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
