#include "training/tensorboard/event.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

using protozero::pbf_writer;

// Field numbers of TensorBoard's messages.
namespace field {
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5,
                   kSessionLog = 7;                                         // Event
constexpr uint32_t kStatus = 1;                                             // SessionLog
constexpr uint32_t kValue = 1;                                              // Summary
constexpr uint32_t kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;  // Summary.Value
constexpr uint32_t kPluginData = 1;                                         // SummaryMetadata
constexpr uint32_t kPluginName = 1, kContent = 2;                           // PluginData
constexpr uint32_t kType = 1, kShape = 2;                                   // TensorProto
constexpr uint32_t kDimension = 2;                                          // TensorShapeProto
constexpr uint32_t kSessionStart = 3, kSessionEnd = 4;                      // HParamsPluginData
constexpr uint32_t kParameters = 1, kGroup = 4, kStartTime = 5;             // SessionStartInfo
constexpr uint32_t kEndStatus = 1, kEndTime = 2;                            // SessionEndInfo
constexpr uint32_t kMapKey = 1, kMapValue = 2;
constexpr uint32_t kNumber = 2, kText = 3, kTruth = 4;  // google.protobuf.Value
}  // namespace field

constexpr int32_t kStart = 1;    // SessionLog.START
constexpr int32_t kSuccess = 1;  // Status.STATUS_SUCCESS
constexpr int32_t kFloat = 1;    // DT_FLOAT

void write_value(pbf_writer& writer, const std::variant<bool, double, std::string>& value) {
  if (const auto* truth = std::get_if<bool>(&value))
    writer.add_bool(field::kTruth, *truth);
  else if (const auto* number = std::get_if<double>(&value))
    writer.add_double(field::kNumber, *number);
  else
    writer.add_string(field::kText, std::get<std::string>(value));
}

/// A value of the hparams plugin: `content` in the metadata of an empty tensor.
void write_hparams(pbf_writer& event, const std::string& tag, const std::string& content) {
  pbf_writer summary(event, field::kSummary);
  pbf_writer value(summary, field::kValue);
  value.add_string(field::kTag, tag);
  {
    pbf_writer tensor(value, field::kTensor);
    tensor.add_enum(field::kType, kFloat);
    pbf_writer shape(tensor, field::kShape);
    shape.add_message(field::kDimension, std::string{});  // of size 0
  }
  pbf_writer metadata(value, field::kMetadata);
  pbf_writer plugin(metadata, field::kPluginData);
  plugin.add_string(field::kPluginName, "hparams");
  plugin.add_bytes(field::kContent, content);
}

void write(pbf_writer& event, const FileVersion&, double) {
  event.add_string(field::kFileVersion, "brain.Event:2");
}

void write(pbf_writer& event, const Restart&, double) {
  pbf_writer log(event, field::kSessionLog);
  log.add_enum(field::kStatus, kStart);
}

void write(pbf_writer& event, const Session& session, double time) {
  std::string content;
  {
    pbf_writer data(content);
    pbf_writer start(data, field::kSessionStart);
    for (const auto& [key, parameter] : session.parameters) {
      pbf_writer entry(start, field::kParameters);
      entry.add_string(field::kMapKey, key);
      pbf_writer value(entry, field::kMapValue);
      write_value(value, parameter);
    }
    start.add_string(field::kGroup, session.group);
    start.add_double(field::kStartTime, time);
  }
  write_hparams(event, "_hparams_/session_start_info", content);
}

void write(pbf_writer& event, const std::vector<Scalar>& scalars, double) {
  pbf_writer summary(event, field::kSummary);
  for (const auto& scalar : scalars) {
    pbf_writer value(summary, field::kValue);
    value.add_string(field::kTag, scalar.tag);
    value.add_float(field::kSimpleValue, static_cast<float>(scalar.value));
  }
}

void write(pbf_writer& event, const SessionEnd&, double time) {
  std::string content;
  {
    pbf_writer data(content);
    pbf_writer end(data, field::kSessionEnd);
    end.add_enum(field::kEndStatus, kSuccess);
    end.add_double(field::kEndTime, time);
  }
  write_hparams(event, "_hparams_/session_end_info", content);
}

template <class Integer>
void append_little_endian(std::string& bytes, Integer number) {
  for (size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xFF);
}

/// Masks a checksum, so that checksums of bytes that hold checksums stay useful.
uint32_t masked(uint32_t checksum) { return ((checksum >> 15) | (checksum << 17)) + 0xA282EAD8U; }

constexpr std::string_view kValidation = "validation_";

std::string tag_of(const nlohmann::json& record, const std::string& key) {
  if (record.contains("mixture")) return record["mixture"].get<std::string>() + "/" + key;
  if (record.contains("observed"))  // whose one number is its `value`
    return record["place"].get<std::string>() + "/" + record["observed"].get<std::string>();
  if (key.starts_with(kValidation)) return "validation/" + key.substr(kValidation.size());
  return "training/" + key;
}

}  // namespace

std::string encode(const Event& event) {
  std::string bytes;
  pbf_writer writer(bytes);
  writer.add_double(field::kWallTime, event.wall_time);
  if (event.step != 0) writer.add_int64(field::kStep, event.step);
  std::visit([&](const auto& what) { write(writer, what, event.wall_time); }, event.what);
  return bytes;
}

std::string framed(std::string_view event) {
  std::string record;
  append_little_endian(record, static_cast<uint64_t>(event.size()));
  append_little_endian(record, masked(crc32c(record)));
  record += event;
  append_little_endian(record, masked(crc32c(event)));
  return record;
}

std::vector<Scalar> scalars_of(const nlohmann::json& record) {
  std::vector<Scalar> scalars;
  const bool validation = record.contains("validation_loss");
  for (const auto& [key, value] : record.items())
    if (value.is_number() && key != "step" && (!validation || key.starts_with(kValidation)))
      scalars.push_back({tag_of(record, key), value.get<double>()});
  return scalars;
}

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
    : path_(folder / name), file_(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND) {}

void EventFile::append(Event event) {
  event.wall_time = seconds_now();
  const auto record = framed(encode(event));
  const auto written = file_.append(record);
  if (written != static_cast<ssize_t>(record.size()))
    throw io_error("write", path_, written < 0 ? errno : ENOSPC);
}

}  // namespace ablate::training
