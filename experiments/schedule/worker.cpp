#include "experiments/schedule/worker.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "training/process/folder_claim.h"
#include "training/storage/errors.h"

namespace ablate::schedule {

std::vector<std::string> train_command(const records::RunFolder& folder, const Worker& worker) {
  std::vector<std::string> words{"/proc/self/exe", "train", folder.path.string(), "--threads",
                                 std::to_string(worker.threads)};
  if (worker.ranks > 1)
    words.insert(words.end(), {"--ranks", std::to_string(worker.ranks), "--rank-timeout",
                               std::to_string(worker.rank_timeout.count())});
  return words;
}

void check_ranks(const config::Experiment& experiment, int64_t ranks) {
  if (ranks == 1) return;
  if (!std::has_single_bit(static_cast<uint64_t>(ranks)))
    throw UsageError(fmt::format("--ranks {}: the number of ranks must be a power of two", ranks));
  if (const auto batches = experiment.training.accumulate; batches % ranks != 0)
    throw UsageError(fmt::format(
        "--ranks {} must divide training.accumulate, which is {}: ranks share the batches of an "
        "update; choose fewer ranks, or a study with more and smaller batches",
        ranks, batches));
  experiment.training.given_stages([&](const auto& stage) {
    if (!stage.against_ranks.empty())
      throw UsageError(fmt::format("--ranks {}: {}", ranks, stage.against_ranks));
  });
  if (training::is_timed(experiment.training.budget))
    throw UsageError(fmt::format(
        "--ranks {}: a budget in seconds would mean something else on more processes", ranks));
  if (config::has_batch_norm(experiment.model))
    throw UsageError(fmt::format(
        "--ranks {}: batch norm keeps statistics of all examples, which ranks do not share",
        ranks));
}

namespace {

constexpr std::string_view kError = "ablate: ";

}  // namespace

std::vector<std::string> Attempts::begin(const Worker& worker) {
  records::remove_failure(folder_);
  message_.clear();
  saw_error_ = false;
  ++options_.made;
  return train_command(folder_, worker);
}

void Attempts::on_output_line(const std::string& line) {
  const auto file = folder_.messages();
  errno = 0;
  if (!log_.is_open()) log_.open(file, std::ios::app);
  if (!(log_ << line + "\n" << std::flush)) throw training::io_error("write", file, errno);
  // An error may have several lines; other messages have one.
  if (line.starts_with(kError)) {
    message_ = line.substr(kError.size());
    saw_error_ = true;
  } else {
    message_ = saw_error_ ? message_ + "\n" + line : line;
  }
}

Attempts::End Attempts::end(int exit_code) {
  exit_code_ = exit_code;
  log_.close();
  if (exit_code == 0) return End::finished;
  if (meaning_of(exit_code) == ExitCode::interrupted) return End::interrupted;
  if (records::worth_retrying(exit_code) && options_.made <= options_.retries) return End::crashed;
  records::write_failure(folder_, {exit_code, options_.made, message_, training::scheduler_job()});
  return End::failed;
}

bool Attempts::found_no_room() const {
  return exit_code_ > 0 && meaning_of(exit_code_) == ExitCode::io &&
         message_.find(training::kFreeSpace) != std::string::npos;
}

std::string Attempts::reason(bool brief) const {
  return records::reason({exit_code_, options_.made, brief ? "" : message_});
}

}  // namespace ablate::schedule
