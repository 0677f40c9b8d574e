#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>

#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"

namespace ablate::records {

/// The record in a sealed file; absent if there is no file. Members that the file lacks are taken
/// from `earlier`, which has those that earlier versions did not write. Throws CheckpointError if
/// the file is damaged, with `remedy` after the reason, and IoError if it cannot be read.
template <training::Record Record>
std::optional<Record> read_sealed(const std::filesystem::path& file, const std::string& remedy = "",
                                  nlohmann::json earlier = nlohmann::json::object()) {
  if (!std::filesystem::exists(file)) return {};
  earlier.update(training::read_sealed_json(file, remedy));
  try {
    return training::from_json<Record>(earlier);
  } catch (const nlohmann::json::exception& error) {
    throw training::CheckpointError(
        fmt::format("{} is damaged ({}){}", file.string(), error.what(), remedy));
  }
}

/// Throws IoError.
template <training::Record Record>
void write_sealed(const std::filesystem::path& file, const Record& record) {
  training::write_durably(file, training::sealed_json(training::to_json(record)));
}

}  // namespace ablate::records
