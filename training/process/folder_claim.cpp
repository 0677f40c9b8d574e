#include "training/process/folder_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "training/process/machine.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

using std::filesystem::path;

constexpr std::chrono::milliseconds kFirstLook{10}, kLookEvery{1000};
constexpr const char* kReleased = "released\n";
constexpr size_t kDigits = 6;

/// Empty if the file cannot be read: another process may be writing it.
std::string text_of(const path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string first_line(const path& file) {
  const auto text = text_of(file);
  return text.substr(0, text.find('\n'));
}

/// When the process began, in ticks since the host did (field 22 of /proc/<pid>/stat); empty if
/// there is none, or only a zombie.
std::string began(int64_t pid) {
  const auto text = text_of(path("/proc") / std::to_string(pid) / "stat");
  const auto name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return "";
  std::istringstream words(text.substr(name_ends + 2));
  std::string word;
  words >> word;  // its state
  if (word == "Z" || word == "X") return "";
  for (int field = 4; field <= 22; ++field) words >> word;
  return word;
}

std::string own_pid_namespace() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
}

std::string own_boot() { return first_line("/proc/sys/kernel/random/boot_id"); }

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Writes the whole file and makes it survive a crash; false if it exists and must not.
bool put(const path& file, const std::string& text, int how) {
  const int descriptor = open_file(file, O_WRONLY | O_CREAT | how);
  if (descriptor < 0 && errno == EEXIST) return false;
  if (descriptor < 0) throw io_error("create", file, errno);
  File(descriptor, file).write_and_sync(text);
  return true;
}

std::string number_text(int64_t number) {
  auto digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

/// The number in the name of a claim's file; nullopt for any other file.
std::optional<int64_t> claim_number(const std::string& name) {
  int64_t number = 0;
  const auto* const end = name.data() + name.size();
  const auto [read, fault] = std::from_chars(name.data(), end, number);
  if (fault != std::errc() || read != end || number_text(number) != name) return {};
  return number;
}

std::optional<ProcessIdentity> identity_in(const std::string& text) {
  try {
    return from_json<ProcessIdentity>(parse_json(text));
  } catch (const nlohmann::json::exception&) {
    return {};  // it is being written, or was never finished
  }
}

path claim_of(const path& claims, int64_t number) { return claims / number_text(number); }

path beat_of(const path& claims, int64_t number) {
  return claims / ("beat-" + number_text(number));
}

/// Reads the folder, which makes a client of a network file system ask the server.
int64_t highest_claim(const path& claims) {
  int64_t most = 0;
  for (const auto& entry : std::filesystem::directory_iterator(claims)) {
    if (const auto number = claim_number(entry.path().filename().string()))
      most = std::max(most, *number);
  }
  return most;
}

/// Whether the file was not written for twice the usual lease; false if it is gone.
bool is_stale(const path& file) {
  std::error_code gone;
  const auto written = std::filesystem::last_write_time(file, gone);
  return !gone &&
         std::filesystem::file_time_type::clock::now() - written > 2 * FolderClaim::Times{}.lease;
}

}  // namespace

Ownership ownership_of(const path& folder) {
  const auto claims = folder / "claims";
  if (!std::filesystem::exists(claims)) return Ownership::none;
  const auto number = highest_claim(claims);
  if (number == 0 || text_of(beat_of(claims, number)) == kReleased) return Ownership::none;
  const auto process = identity_in(text_of(claim_of(claims, number)));
  if (process && is_in_sight(*process))
    return surely_gone(*process) ? Ownership::lost : Ownership::alive;
  return is_stale(beat_of(claims, number)) ? Ownership::lost : Ownership::alive;
}

std::string scheduler_job() {
  const auto array = environment_value("SLURM_ARRAY_JOB_ID");
  if (!array.empty()) return array + "_" + environment_value("SLURM_ARRAY_TASK_ID");
  const auto slurm = environment_value("SLURM_JOB_ID");
  return slurm.empty() ? environment_value("PBS_JOBID") : slurm;
}

ProcessIdentity this_process() {
  return {.host = host_name(),
          .boot = own_boot(),
          .pid_namespace = own_pid_namespace(),
          .pid = ::getpid(),
          .began = began(::getpid()),
          .job = scheduler_job()};
}

bool is_in_sight(const ProcessIdentity& process) {
  return process.boot == own_boot() && process.pid_namespace == own_pid_namespace();
}

bool surely_gone(const ProcessIdentity& process) {
  return is_in_sight(process) && process.began != began(process.pid);
}

OwnerWatch::Verdict OwnerWatch::observe(const std::string& sign, Clock::time_point now) {
  if (!first_) {
    first_ = sign;
    since_ = now;
  }
  if (sign != *first_) return Verdict::alive;
  return now - since_ >= lease_ ? Verdict::gone : Verdict::undecided;
}

FolderClaim::FolderClaim(const path& folder, Times times, const Waiting& waiting)
    : claims_(folder / "claims"), times_(times) {
  create_folder(claims_);
  for (bool said = false;;) {
    OwnerWatch watch(times_.lease);
    auto pause = kFirstLook;
    const auto watched = highest_claim(claims_);
    for (; highest_claim(claims_) == watched; pause = std::min(2 * pause, kLookEvery)) {
      if (const auto owner = find(watched, watch); owner != Owner::gone) {
        if (owner == Owner::here && !std::exchange(said, true)) waiting();
        std::this_thread::sleep_for(pause);
        continue;
      }
      if (!create(watched + 1)) break;
      write_beat("0\n");
      beats_ = std::jthread([this](const std::stop_token& stop) { keep_beating(stop); });
      return;
    }
  }
}

FolderClaim::~FolderClaim() {
  beats_.request_stop();
  beats_.join();
  try {
    if (highest_claim(claims_) == number_) write_beat(kReleased);
  } catch (const std::exception&) {
    return;  // the next owner then waits for the lease
  }
}

void FolderClaim::check() const {
  const auto now = highest_claim(claims_);
  if (now != number_)
    throw NotTheOwner(claims_.parent_path().string() + " was taken over by " + owner(now) +
                      " while this process gave no sign of life; it stops writing");
}

/// "host n1, process 4711, job 12_3"
std::string FolderClaim::owner(int64_t number) const {
  const auto process = identity_in(text_of(claim_of(claims_, number)));
  if (!process) return "another process";
  return "host " + process->host + ", process " + std::to_string(process->pid) +
         (process->job.empty() ? "" : ", job " + process->job);
}

FolderClaim::Owner FolderClaim::find(int64_t number, OwnerWatch& watch) const {
  const auto sign = number == 0 ? kReleased : text_of(beat_of(claims_, number));
  if (sign == kReleased) return Owner::gone;
  const auto process = identity_in(text_of(claim_of(claims_, number)));
  if (process && surely_gone(*process)) return Owner::gone;
  const bool here = process && is_in_sight(*process);
  const auto verdict =
      here ? OwnerWatch::Verdict::undecided : watch.observe(sign, OwnerWatch::Clock::now());
  if (verdict == OwnerWatch::Verdict::alive || stop_requested())
    throw NotTheOwner(claims_.parent_path().string() + " is being worked on by " + owner(number));
  if (here) return Owner::here;
  return verdict == OwnerWatch::Verdict::gone ? Owner::gone : Owner::elsewhere;
}

/// Whether this process is the one that created the claim.
bool FolderClaim::create(int64_t number) {
  number_ = number;
  return put(claim_of(claims_, number), to_json(this_process()).dump() + "\n", O_EXCL);
}

void FolderClaim::keep_beating(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (int64_t count = 1;; ++count) {
    ended_.wait_for(lock, stop, times_.beat, [] { return false; });
    if (stop.stop_requested()) return;
    try {
      write_beat(std::to_string(count) + "\n");
    } catch (const std::exception&) {
      continue;  // a full disk is noticed by who writes the run
    }
  }
}

void FolderClaim::write_beat(const std::string& sign) const {
  put(beat_of(claims_, number_), sign, O_TRUNC);
}

}  // namespace ablate::training
