#include "training/checkpoint/format/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"
#include "training/storage/errors.h"
#include "training/storage/finite_json.h"

namespace ablate::training {
namespace {

constexpr const char* kManifestName = "manifest.json";
constexpr int kVersion = 1;
constexpr uint64_t kMaximumBytes = uint64_t{1} << 20U;

nlohmann::json body_of(const Manifest& manifest) {
  nlohmann::json body = {{"format", "ablate checkpoint"},
                         {"version", kVersion},
                         {"step", manifest.step},
                         {"files", nlohmann::json::object()}};
  for (const auto& [name, file] : manifest.files)
    body["files"][name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
  return body;
}

/// Throws if the file is missing or has another size, before its bytes are read.
void require_size(const std::filesystem::path& path, uint64_t least, uint64_t most) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    throw CheckpointError(fmt::format("'{}' is missing", path.string()));
  if (!std::filesystem::is_regular_file(status))
    throw CheckpointError(fmt::format("'{}' is not a file", path.string()));
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw io_error("read", path, error.value());
  if (size < least || size > most)
    throw CheckpointError(
        fmt::format("'{}' is damaged: it has {} bytes instead of {}", path.string(), size,
                    least == most ? std::to_string(least) : fmt::format("at most {}", most)));
}

}  // namespace

bool valid_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

std::string to_json(const Manifest& manifest) {
  auto body = body_of(manifest);
  const auto digest = tokenizer::sha256(body.dump());
  body["sha256"] = digest;
  return body.dump(1) + '\n';
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const auto path = folder / kManifestName;
  require_size(path, 1, kMaximumBytes);
  const auto bytes = read_bytes(path);
  const auto json = parse_json(bytes);
  Manifest manifest;
  try {
    if (!json.is_discarded() && json.at("version") != kVersion)
      throw CheckpointError(fmt::format("'{}' is of version {}; this program reads version {}",
                                        path.string(), json.at("version").dump(), kVersion));
    require_integers(json);
    manifest.step = json.at("step").get<int64_t>();
    for (const auto& [name, file] : json.at("files").items())
      manifest.files[name] = {file.at("bytes").get<uint64_t>(),
                              file.at("sha256").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    throw CheckpointError(fmt::format("'{}' is damaged: not a manifest", path.string()));
  }
  // Written again it must be the same file: so no byte of it is without meaning.
  if (bytes != to_json(manifest))
    throw CheckpointError(fmt::format("'{}' is damaged: its digest differs", path.string()));
  for (const auto& [name, file] : manifest.files)
    if (!valid_file_name(name))
      throw CheckpointError(fmt::format("'{}' lists a file of a forbidden name", path.string()));
  return manifest;
}

std::string read_listed(const std::filesystem::path& folder, const Manifest& manifest,
                        const std::string& name) {
  const auto path = folder / name;
  const auto listed = manifest.files.find(name);
  if (listed == manifest.files.end())
    throw CheckpointError(fmt::format("the manifest of '{}' lacks {}", folder.string(), name));
  require_size(path, listed->second.bytes, listed->second.bytes);
  auto bytes = read_bytes(path);
  if (tokenizer::sha256(bytes) != listed->second.sha256)
    throw CheckpointError(
        fmt::format("'{}' is damaged: its SHA-256 is not the manifest's", path.string()));
  return bytes;
}

}  // namespace ablate::training
