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
  std::map<std::string, int64_t> calls;  // of every operator that would launch kernels

  int64_t launches() const;  // all calls
};

/// The counts of all threads. With FAKE_CUDA_COUNTS=FILE a process also appends them to that file
/// when it ends, as one line of JSON.
Counts counts();

void count_read();
void count_write();
void count_call(const std::string& name);

}  // namespace fake_cuda
