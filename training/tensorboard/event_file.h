#pragma once

#include <filesystem>

#include "training/storage/io_error.h"
#include "training/tensorboard/event.h"

namespace ablate::training {

/// A file of events for TensorBoard, a view of metrics.jsonl. It only grows, each event by one
/// write, so a killed process cuts at most the last one.
class EventFile {
 public:
  /// Creates events.out.tfevents.<seconds>.<host>.<process>.0 in `folder`, of a later second than
  /// all event files there: TensorBoard reads them in the order of their names, and drops what the
  /// earlier ones hold of `next_step` and later ones. Throws IoError.
  EventFile(const std::filesystem::path& folder, int64_t next_step);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  ~EventFile();

  /// Adds an event of now. Throws IoError.
  template <class What>
  void add(int64_t step, What what) {
    append({.step = step, .what = std::move(what)});
  }

 private:
  EventFile(const std::filesystem::path& folder, const std::string& name);
  void append(Event event);

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace ablate::training
