#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/records/folders.h"
#include "options/members.h"

namespace ablate::records {

/// Why a run has no result: the content of failure.json in its folder.
struct RunFailure {
  int exit_code = 0;     // 128 + the signal if one ended the process
  int64_t attempts = 1;  // starts of the run by the last command
  std::string message;   // last message of the run
  std::string job;       // id at the cluster's scheduler; empty without one

  ABLATE_FIELDS(exit_code, attempts, message, job)
};

/// Whether another start may succeed: a signal ended the run, memory was short, a rank was lost, or
/// a GPU failed.
/// Failures that follow from configuration, data or numbers repeat.
bool worth_retrying(int exit_code);

/// "exit code 5: step 12: the loss is nan ...", "signal 9 ...".
std::string reason(const RunFailure& failure);

/// Throws IoError.
void write_failure(const RunFolder& folder, const RunFailure& failure);
void remove_failure(const RunFolder& folder);

/// Absent if the run has not failed, or its record is damaged.
std::optional<RunFailure> read_failure(const RunFolder& folder);

/// Whether the run diverged, which it would do again.
bool has_diverged(const RunFolder& folder);

/// Whether the run is of a curve and has diverged, so that the curve does without its value.
bool is_left_out(const config::RunSpecification& run, const StudyFolder& folder);

/// "finished", "failed", "running", "interrupted" if it stopped with its state saved, "lost" if its
/// process ended without a word, or "new".
std::string state_of(const RunFolder& folder);

/// The same, and "diverged" of a run that tries a value for tune, of which that is a finding.
std::string state_of(const config::RunSpecification& run, const StudyFolder& folder);

/// Why a run without a result has none: "failed with ...", "interrupted" or "not started".
std::string why_missing(const RunFolder& folder);

/// A run without a result, and why.
struct MissingRun {
  std::string task, arm;
  int64_t seed = 0;
  std::string reason;  // "failed with exit code 5: ...", "interrupted", "not started"
};

}  // namespace ablate::records
