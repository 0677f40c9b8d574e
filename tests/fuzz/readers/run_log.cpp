#include "training/storage/run_log.h"

#include "tests/fuzz/fuzz.h"
#include "training/storage/finite_json.h"

namespace ablate::fuzz {

/// JSON lines, as a run's log has them.
void run_log(std::string_view bytes) {
  static const MemoryFile kFile;
  may_throw<training::CheckpointError>([&] {
    for (const auto& line : training::read_run_log(kFile.holding(bytes)))
      training::with_non_finite(line).dump();
  });
}

}  // namespace ablate::fuzz
