#include "experiments/schedule/attempts.h"

#include <cerrno>

#include "experiments/errors.h"
#include "experiments/records/failure.h"
#include "training/process/folder_claim.h"
#include "training/storage/full_disk.h"
#include "training/storage/io_error.h"

namespace ablate::schedule {
namespace {

constexpr std::string_view kError = "ablate: ";

}  // namespace

std::vector<std::string> Attempts::begin(const Worker& worker) {
  records::remove_failure(folder_);
  message_.clear();
  told_error_ = false;
  ++options_.made;
  return train_command(folder_, worker);
}

void Attempts::hear(const std::string& line) {
  const auto file = folder_.messages();
  errno = 0;
  if (!log_.is_open()) log_.open(file, std::ios::app);
  if (!(log_ << line + "\n" << std::flush)) throw training::io_error("write", file, errno);
  // An error may go on over several lines; other messages are one.
  if (line.starts_with(kError)) {
    message_ = line.substr(kError.size());
    told_error_ = true;
  } else {
    message_ = told_error_ ? message_ + "\n" + line : line;
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
