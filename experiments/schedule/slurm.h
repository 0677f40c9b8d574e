#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ablate::schedule {

/// One job of Slurm's queue, or one task of an array.
struct QueuedJob {
  std::string id;       // as scancel and scontrol take it: 12, 12_3
  std::string array;    // 12; the id itself where it is no array
  int64_t task = -1;    // -1: no array's
  std::string name;     // that it was submitted with
  std::string state;    // RUNNING, PENDING, ...
  std::string node;     // empty where it waits
  std::string reason;   // why it waits
  std::string elapsed;  // 1:02
};

/// What sbatch is told about a job.
struct Submission {
  std::vector<std::string> flags;
  std::string name;
  std::vector<std::string> script;  // with its arguments
};

}  // namespace ablate::schedule

/// Slurm, by its own commands. Where its controller does not answer, each call tries again for half
/// a minute, and then throws IoError. Throws UsageError with what Slurm says where that refuses.
namespace ablate::schedule::slurm {

/// The words of a text of flags, divided at blanks outside of quotation marks, which go. Throws
/// UsageError if one of those is not closed.
std::vector<std::string> flags_in(const std::string& text);
/// The user's jobs whose name begins so, by their ids.
std::vector<QueuedJob> queue(const std::string& prefix);
/// Gives the job's id. A job that an unanswered call has submitted all the same is found by its
/// name, which must therefore be a new one.
std::string submit(const Submission& submission);
void cancel(const std::vector<std::string>& jobs);
/// Tasks that one array may have.
int64_t most_tasks();

}  // namespace ablate::schedule::slurm
