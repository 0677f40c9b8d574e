#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/records/folders.h"

namespace ablate::records {

/// One start of a run: what it computed on, and which updates it made. environment.json has a list
/// of them.
struct RunStart {
  std::string began;  // in UTC: 2026-01-31T23:59:59Z
  std::string host, processor, cpu_capability;
  std::string gpu, driver;  // empty where it trained on a CPU
  std::string libtorch;
  std::string program_sha256;
  std::string job;  // of a cluster's scheduler; empty without one
  int64_t from_step = 0;
  int64_t to_step = 0;  // the last that was saved
  bool ended = false;   // false while it runs, and where the process was lost

  static void fields(auto& o, auto&& visit) {
    visit("began", o.began);
    visit("host", o.host);
    visit("processor", o.processor);
    visit("cpu_capability", o.cpu_capability);
    visit("gpu", o.gpu);
    visit("driver", o.driver);
    visit("libtorch", o.libtorch);
    visit("program_sha256", o.program_sha256);
    visit("job", o.job);
    visit("from_step", o.from_step);
    visit("to_step", o.to_step);
    visit("ended", o.ended);
  }
};

/// The starts of the run so far; none where environment.json is missing or damaged.
std::vector<RunStart> read_starts(const RunFolder& folder);

/// What the starts computed on, each kind once: the GPU, or the processor and what it can do.
std::string hardware_of(const std::vector<RunStart>& starts);

}  // namespace ablate::records
