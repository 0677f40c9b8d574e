#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fake_cuda {

/// What a process has asked of the device so far.
struct Counts {
  int64_t reads = 0;   // times that the host waited: for values that were copied to it, or for a
                       // size that only the device knows
  int64_t writes = 0;  // copies from the host to the device
  int64_t waiting_writes = 0;            // of them those that the host waited for
  int64_t launches = 0;                  // calls of operators that would launch kernels
  std::map<std::string, int64_t> calls;  // of each of them
};

/// Whether the device is the stand-in. A real one counts nothing.
bool is_present();

/// The counts of all threads. With FAKE_CUDA_GRAPHS=FILE a process also appends to that file when
/// it ends how many graphs it has launched.
Counts counts();

/// Throws as CUDA does for every call after a kernel has gone astray: with FAKE_CUDA_FAILS_AT=N the
/// N-th launch of a process does.
void throw_if_failed();

void count_read();
void count_write(bool waits);
void count_call(const std::string& name);

}  // namespace fake_cuda
