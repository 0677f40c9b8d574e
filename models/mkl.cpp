#include "models/mkl.h"

#include <atomic>

namespace ablate::models {
namespace {

std::atomic<bool> amd_allowed = true;

}  // namespace

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
