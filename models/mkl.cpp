#include "models/mkl.h"

namespace {
bool amd_allowed = true;
}

// What MKL's own function of this name answers: whether the processor is Intel's. The dynamic
// linker prefers the program's.
extern "C" __attribute__((visibility("default"))) int mkl_serv_intel_cpu_true() {
  return ablate::models::mkl_takes_fast_path() ? 1 : 0;
}

namespace ablate::models {

void allow_mkl_fast_path(bool allowed) { amd_allowed = allowed; }

bool mkl_takes_fast_path() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_is("intel")) return true;
  return amd_allowed && __builtin_cpu_is("amd") && __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

}  // namespace ablate::models
