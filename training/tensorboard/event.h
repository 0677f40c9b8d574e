#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "training/storage/durable_file.h"

namespace ablate::training {

/// One point of a curve.
struct Scalar {
  std::string tag;
  double value;
};

/// A run on the hparams page; runs with one `group` are replicates, shown together.
struct Session {
  std::string group;
  std::map<std::string, std::variant<bool, double, std::string>> parameters;
};

/// The first event of every file.
struct FileVersion {};

/// Readers drop events of this step and later ones from earlier files.
struct Restart {};

/// The run has come to its end.
struct SessionEnd {};

/// One entry of an event file.
struct Event {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::variant<FileVersion, Restart, Session, std::vector<Scalar>, SessionEnd> what;
};

/// The event as a protocol buffer (TensorBoard's event.proto, summary.proto, hparams
/// plugin_data.proto).
std::string encode(const Event& event);

/// `event` with its length and both checksums, as TFRecord has it.
std::string framed(std::string_view event);

/// The numbers of a line of metrics.jsonl: training/<key>, validation/<key>,
/// <module of a mixture>/<key> or <place>/<observed quantity>. Lists, texts, the step itself and
/// the costs of a validation, which are those of training, are left out.
std::vector<Scalar> scalars_of(const nlohmann::json& record);

/// A file of events for TensorBoard, a view of metrics.jsonl. It only grows, each event by one
/// write, so a killed process cuts at most the last one.
class EventFile {
 public:
  /// Creates events.out.tfevents.<seconds>.<host>.<process>.0 in `folder`, of a later second than
  /// all event files there: TensorBoard reads them in the order of their names, and drops events of
  /// `next_step` and later ones from earlier files. Throws IoError.
  EventFile(const std::filesystem::path& folder, int64_t next_step);

  /// Adds an event of now. Throws IoError.
  template <class What>
  void add(int64_t step, What what) {
    append({.step = step, .what = std::move(what)});
  }

 private:
  EventFile(const std::filesystem::path& folder, const std::string& name);
  void append(Event event);

  std::filesystem::path path_;
  File file_;
};

namespace crc32c_detail {
constexpr std::array<uint32_t, 256> table() {
  std::array<uint32_t, 256> entries{};
  for (uint32_t byte = 0; byte < entries.size(); ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit)
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0x82F63B78U : 0U);
    entries[byte] = remainder;
  }
  return entries;
}
}  // namespace crc32c_detail

/// CRC-32C (Castagnoli) of `bytes`, as in RFC 3720, appendix B.4.
constexpr uint32_t crc32c(std::string_view bytes) {
  constexpr auto kTable = crc32c_detail::table();
  uint32_t remainder = 0xFFFFFFFFU;
  for (const char byte : bytes)
    remainder = (remainder >> 8) ^ kTable[(remainder ^ static_cast<uint8_t>(byte)) & 0xFFU];
  return ~remainder;
}

}  // namespace ablate::training
