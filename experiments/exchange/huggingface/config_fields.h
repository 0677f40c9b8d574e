#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "training/storage/errors.h"

namespace ablate::exchange {

/// The fields of a model's config.json, each of which must be read or known to change nothing.
class ConfigFields {
 public:
  /// `source` is the file's name in messages. Throws CheckpointError unless `json` is an object.
  ConfigFields(nlohmann::json json, std::string source);

  const std::string& source() const { return source_; }
  bool has(const std::string& name) const { return json_.contains(name) && !json_[name].is_null(); }

  /// Absent if the field is missing or null. Throws CheckpointError if it has another type.
  template <class T>
  std::optional<T> find(const std::string& name) {
    read_.insert(name);
    if (!has(name)) return {};
    try {
      return json_[name].get<T>();
    } catch (const nlohmann::json::exception&) {
      refuse(name, "has an unexpected type");
    }
  }
  /// The same of a field that must be there.
  template <class T>
  T get(const std::string& name) {
    auto value = find<T>(name);
    if (!value) refuse(name, "is missing");
    return *std::move(value);
  }
  /// Throws CheckpointError if the field is there and has another value, since Ablate has nothing
  /// like it.
  template <class T>
  void expect(const std::string& name, const T& value) {
    const auto given = find<T>(name);
    if (given && *given != value)
      refuse(name, fmt::format("is {}, which Ablate has no key for", json_[name].dump()));
  }
  /// Fields that do not change what the model computes.
  void skip(const std::vector<std::string>& names) { read_.insert(names.begin(), names.end()); }
  /// Throws CheckpointError with the names of all fields that were neither read nor skipped.
  void finish() const;

  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

 private:
  nlohmann::json json_;
  std::string source_;
  std::set<std::string> read_;
};

}  // namespace ablate::exchange
