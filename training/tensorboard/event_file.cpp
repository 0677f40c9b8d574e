#include "training/tensorboard/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <string_view>

#include "training/storage/durable_file.h"
#include "training/storage/host_name.h"

namespace ablate::training {
namespace {

constexpr std::string_view kEventPrefix = "events.out.tfevents.";

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Now, or the second after that of the newest event file.
int64_t second_of_file(const std::filesystem::path& folder) {
  auto second = static_cast<int64_t>(seconds_now());
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(kEventPrefix)) continue;
    int64_t other = 0;
    std::from_chars(name.data() + kEventPrefix.size(), name.data() + name.size(), other);
    second = std::max(second, other + 1);
  }
  return second;
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder, int64_t next_step)
    : EventFile(folder, fmt::format("{}{:010}.{}.{}.0", kEventPrefix, second_of_file(folder),
                                    host_name(), ::getpid())) {
  add(0, FileVersion{});
  add(next_step, Restart{});  // TensorBoard heeds all but the first one of a run
}

EventFile::EventFile(const std::filesystem::path& folder, const std::string& name)
    : path_(folder / name) {
  descriptor_ = open_file(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
  if (descriptor_ < 0) throw io_error("create", path_, errno);
}

EventFile::~EventFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void EventFile::append(Event event) {
  event.wall_time = seconds_now();
  const auto record = framed(encode(event));
  ssize_t written = 0;
  do written = ::write(descriptor_, record.data(), record.size());
  while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(record.size()))
    throw io_error("write", path_, written < 0 ? errno : ENOSPC);
}

}  // namespace ablate::training
