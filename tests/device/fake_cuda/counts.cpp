#include "tests/device/fake_cuda/counts.h"

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>

#include "tests/device/fake_cuda/recording.h"

namespace fake_cuda {
namespace {

std::string json_line(const Counts& counts) {
  std::ostringstream line;
  line << R"({"reads":)" << counts.reads << R"(,"writes":)" << counts.writes << R"(,"launches":)"
       << counts.launches() << R"(,"calls":{)";
  const char* separator = "";
  for (const auto& [name, calls] : counts.calls) {
    line << separator << '"' << name << "\":" << calls;
    separator = ",";
  }
  line << "}}\n";
  return line.str();
}

/// The counts of this process, which it writes at its end.
struct Tally {
  std::mutex mutex;
  Counts counts;

  ~Tally() {
    const char* file = std::getenv("FAKE_CUDA_COUNTS");
    if (file != nullptr && !counts.calls.empty())
      std::ofstream(file, std::ios::app) << json_line(counts);
  }
};

Tally& tally() {
  static Tally one;
  return one;
}

}  // namespace

int64_t Counts::launches() const {
  int64_t sum = 0;
  for (const auto& [name, count] : calls) sum += count;
  return sum;
}

Counts counts() {
  const std::lock_guard lock(tally().mutex);
  return tally().counts;
}

void count_read() {
  refuse_in_capture("a read by the host");
  const std::lock_guard lock(tally().mutex);
  ++tally().counts.reads;
}

void count_write() {
  refuse_in_capture("a copy from the host");
  const std::lock_guard lock(tally().mutex);
  ++tally().counts.writes;
}

void count_call(const std::string& name) {
  const std::lock_guard lock(tally().mutex);
  ++tally().counts.calls[name];
}

}  // namespace fake_cuda
