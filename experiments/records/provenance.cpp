#include "experiments/records/provenance.h"

#include <cstdint>

#include "experiments/records/result.h"
#include "experiments/records/run_start.h"
#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::records {
namespace {

int64_t threads_of(const RunFolder& run) {
  const auto environment = recorded_environment(run);
  return environment.is_object() ? environment.value("threads", int64_t{1}) : 1;
}

}  // namespace

Provenance provenance_of(const StudyFolder& folder) {
  Provenance found;
  if (std::filesystem::exists(folder.study()))
    found.study_sha256 = tokenizer::sha256(training::read_bytes(folder.study()));
  for (const auto& run : runs_in(folder.path)) {
    const auto result = read_result(run);
    if (!result) continue;
    for (const auto& start : read_starts(run)) found.commits.insert(start.commit);
    found.hardware.insert(result->hardware);
    found.core_seconds += result->training_seconds * static_cast<double>(threads_of(run));
    found.data_sha256.insert(result->data_sha256);
  }
  return found;
}

}  // namespace ablate::records
