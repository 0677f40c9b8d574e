#include "models/hardware.h"

// Replaces MKL's function of this name, which returns whether the processor is Intel's: the dynamic
// linker prefers the program's. Only programs of this project are linked with it, so that a program
// which uses ablate::models keeps its own MKL.
extern "C" __attribute__((visibility("default"))) int mkl_serv_intel_cpu_true() {
  return ablate::models::mkl_takes_fast_path() ? 1 : 0;
}
