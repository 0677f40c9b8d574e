#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "training/storage/durable_file.h"

namespace ablate::training {

/// CRC-32C bit by bit, masked as TFRecord asks.
inline uint32_t masked_checksum(std::string_view bytes) {
  uint32_t remainder = ~0U;
  for (const char byte : bytes) {
    remainder ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      remainder = (remainder & 1U) != 0U ? (remainder >> 1) ^ 0x82F63B78U : remainder >> 1;
  }
  remainder = ~remainder;
  return ((remainder >> 15) | (remainder << 17)) + 0xA282EAD8U;
}

inline uint64_t little_endian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return number;
}

struct ReadEvent {
  int64_t step = 0;
  std::string version;
  bool restart = false;
  std::map<std::string, float> scalars;
};

/// Reads a whole event; a field that it does not know is an error.
inline ReadEvent read_event(std::string_view bytes) {
  ReadEvent event;
  for (protozero::pbf_reader reader(bytes.data(), bytes.size()); reader.next();) {
    if (reader.tag() == 1) {
      if (reader.get_double() < 1.6e9) throw std::runtime_error("a time before 2020");
    } else if (reader.tag() == 2) {
      event.step = reader.get_int64();
    } else if (reader.tag() == 3) {
      event.version = reader.get_string();
    } else if (reader.tag() == 7) {
      auto log = reader.get_message();
      event.restart = log.next(1) && log.get_enum() == 1;
    } else if (reader.tag() == 5) {
      auto summary = reader.get_message();
      while (summary.next(1)) {
        auto value = summary.get_message();
        if (!value.next(1)) throw std::runtime_error("a value without a tag");
        const auto tag = value.get_string();
        if (value.next() && value.tag() == 2) event.scalars[tag] = value.get_float();
      }
    } else {
      throw std::runtime_error("an unknown field");
    }
  }
  return event;
}

/// The events of a file up to a record that was cut off; a wrong checksum is an error.
inline std::vector<ReadEvent> read_events(const std::filesystem::path& file) {
  const auto bytes = read_bytes(file);
  std::vector<ReadEvent> events;
  for (std::string_view rest = bytes; rest.size() >= 12;) {
    const auto length = static_cast<size_t>(little_endian(rest.substr(0, 8)));
    if (little_endian(rest.substr(8, 4)) != masked_checksum(rest.substr(0, 8)))
      throw std::runtime_error("a length with a wrong checksum");
    if (rest.size() < length + 16) break;
    const auto data = rest.substr(12, length);
    if (little_endian(rest.substr(12 + length, 4)) != masked_checksum(data))
      throw std::runtime_error("an event with a wrong checksum");
    events.push_back(read_event(data));
    rest.remove_prefix(length + 16);
  }
  return events;
}

/// The event files of a run, in the order in which TensorBoard reads them.
inline std::vector<std::filesystem::path> event_files(const std::filesystem::path& run) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    if (entry.path().filename().string().find("tfevents") != std::string::npos)
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Curves as TensorBoard shows them: a restart drops the points of earlier files from its step on.
using Curves = std::map<std::string, std::vector<std::pair<int64_t, float>>>;

inline Curves curves_of(const std::filesystem::path& run) {
  Curves curves;
  for (const auto& file : event_files(run))
    for (const auto& event : read_events(file)) {
      if (event.restart)
        for (auto& [tag, points] : curves)
          std::erase_if(points, [&](const auto& point) { return point.first >= event.step; });
      for (const auto& [tag, value] : event.scalars) curves[tag].emplace_back(event.step, value);
    }
  return curves;
}

}  // namespace ablate::training
