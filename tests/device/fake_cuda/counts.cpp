#include "tests/device/fake_cuda/counts.h"

#include <c10/util/Exception.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

#include "tests/device/fake_cuda/recording.h"

namespace fake_cuda {
namespace {

/// The launch from which on the device fails; 0: it does not.
int64_t first_fault() {
  const char* number = std::getenv("FAKE_CUDA_FAILS_AT");
  return number == nullptr ? 0 : std::atoll(number);
}

/// The counts of this process, which it writes at its end.
struct Tally {
  std::mutex mutex;
  Counts counts;
  const int64_t first_fault = fake_cuda::first_fault();

  ~Tally() { write(); }
  void write() {
    const char* file = std::getenv("FAKE_CUDA_GRAPHS");
    if (file != nullptr && counts.launches > 0)
      std::ofstream(file, std::ios::app) << counts.calls["graph"] << "\n";
  }
};

Tally& tally() {
  static Tally one;
  return one;
}

}  // namespace

bool is_present() { return true; }

Counts counts() {
  const std::lock_guard lock(tally().mutex);
  return tally().counts;
}

void count_read() {
  refuse_in_capture("a read by the host");
  const std::lock_guard lock(tally().mutex);
  ++tally().counts.reads;
}

void count_write(bool waits) {
  refuse_in_capture("a copy from the host");
  const std::lock_guard lock(tally().mutex);
  ++tally().counts.writes;
  if (waits) ++tally().counts.waiting_writes;
}

void count_call(const std::string& name) {
  {
    const std::lock_guard lock(tally().mutex);
    ++tally().counts.calls[name];
    ++tally().counts.launches;
  }
  throw_if_failed();
}

void throw_if_failed() {
  constexpr int kIllegalAddress = 700;
  const std::lock_guard lock(tally().mutex);
  if (tally().first_fault > 0 && tally().counts.launches >= tally().first_fault)
    throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, kIllegalAddress,
                                "CUDA error: an illegal memory access was encountered");
}

}  // namespace fake_cuda

/// In the place of the C library's, which runs no destructors.
extern "C" void _Exit(int code) {
  fake_cuda::tally().write();
  _exit(code);
}
