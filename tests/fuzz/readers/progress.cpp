#include "training/process/progress.h"

#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// What a run's process tells the one that started it.
void progress(std::string_view bytes) { training::read_record(bytes); }

}  // namespace ablate::fuzz
