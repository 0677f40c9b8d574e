#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ablate::schedule {

/// One job of Slurm's queue, or one task of an array.
struct QueuedJob {
  std::string id;      // as scancel and scontrol take it: 12, 12_3
  std::string array;   // 12; the id itself if it is not an array
  int64_t task = -1;   // -1: no array's
  std::string name;    // that it was submitted with
  std::string state;   // RUNNING, PENDING, ...
  std::string node;    // empty while it waits
  std::string reason;  // why it waits
};

/// The options of a job for sbatch.
struct Submission {
  std::vector<std::string> flags;
  std::string name;
  std::vector<std::string> script;  // with its arguments
};

}  // namespace ablate::schedule

/// Slurm, by its own commands. If its controller does not answer, each call tries again for half a
/// minute, and then throws IoError. Throws UsageError with Slurm's message if it refuses.
namespace ablate::schedule::slurm {

/// The words of a text of flags, divided at blanks outside of quotation marks, which go. Throws
/// UsageError if one of those is not closed.
std::vector<std::string> flags_in(const std::string& text);
/// The user's jobs whose name begins so, by their ids.
std::vector<QueuedJob> queue(const std::string& prefix);
/// Returns the job's id. A job that an unanswered call submitted nevertheless is found by its name,
/// which must therefore be new.
std::string submit(const Submission& submission);
void cancel(const std::vector<std::string>& jobs);
/// Tasks that one array may have.
int64_t most_tasks();

}  // namespace ablate::schedule::slurm
