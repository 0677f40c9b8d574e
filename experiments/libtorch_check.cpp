#include <torch/headeronly/version.h>

#include <cstdio>
#include <cstdlib>

#include "experiments/errors.h"
#include "training/process/libtorch_version.h"

// Runs before the initialisers of all libraries. Functions that another minor version of LibTorch
// lacks do not stop the program before this, since it is linked with `-z lazy` and cmake/weaken.py
// has made them weak.
namespace {

void check_libtorch() {
  const auto fault = ablate::training::mismatch(ablate::training::version_of(TORCH_ABI_VERSION),
                                                ablate::training::loaded_libtorch());
  if (fault.empty()) return;
  std::fprintf(stderr, "ablate: %s\n", fault.c_str());
  std::_Exit(static_cast<int>(ablate::ExitCode::usage));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which must be first
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all)() = check_libtorch;
#else
[[gnu::constructor]] void at_first() { check_libtorch(); }
#endif

}  // namespace
