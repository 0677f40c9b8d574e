#include "models/kernel/isa.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace ablate::models::kernel {
namespace {

Isa of_processor() {
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::avx512;
  return __builtin_cpu_supports("x86-64-v3") ? Isa::avx2 : Isa::any;
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
