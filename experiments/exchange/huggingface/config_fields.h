#pragma once

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "training/storage/errors.h"

namespace ablate::exchange {

/// The object of a config.json, in which Python may have written Infinity and NaN: they become
/// {"__float__": "Infinity"}, as newer versions of Transformers write them. A discarded value if it
/// is not JSON.
nlohmann::json parse_config(const std::string& text);

/// The value that a map names: JSON, or else a word.
nlohmann::json value_named(const std::string& text);

/// The fields of a model's config.json, each of which must be read or known to change nothing.
class ConfigFields {
 public:
  /// `source` is the file's name in messages, `largest` the most that find_size() may give. Throws
  /// CheckpointError unless `object` is one of JSON.
  ConfigFields(nlohmann::json object, std::string source,
               int64_t largest = std::numeric_limits<int64_t>::max());

  const std::string& source() const { return source_; }
  /// Whether the field is there and not null.
  bool has(const std::string& name) const { return json_.contains(name) && !json_[name].is_null(); }

  /// None if the field is missing or null. Throws CheckpointError if it has another type; a
  /// fraction is no integer.
  template <class T>
  std::optional<T> find(const std::string& name) {
    read_.insert(name);
    if (!has(name)) return {};
    if (!is_a<T>(json_[name])) refuse(name, "has an unexpected type");
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
  /// Whether the field is there, perhaps as null.
  bool names(const std::string& name) const { return json_.contains(name); }
  /// A number of heads, channels or the like: from 1 to the largest.
  std::optional<int64_t> find_size(const std::string& name);
  /// A number of layers that a model can have.
  std::optional<int64_t> find_layers(const std::string& name);
  /// The id of a token; one of several ends is the first.
  std::optional<int32_t> find_id(const std::string& name);
  /// Throws CheckpointError if the field is there and has another value, since Ablate has nothing
  /// like it.
  template <class T>
  void expect(const std::string& name, const T& value) {
    const auto given = find<T>(name);
    if (given && *given != value) refuse_value(name);
  }
  /// The same of fields that a family's map lists, each with its value as YAML has it.
  void expect_all(const std::map<std::string, std::string>& values);
  /// Fields that do not change what the model computes.
  void skip(const std::vector<std::string>& names) { read_.insert(names.begin(), names.end()); }
  /// Throws CheckpointError with the names of all fields that were neither read nor skipped.
  void finish() const;

  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;
  /// Refuses the value, since Ablate has nothing like it.
  [[noreturn]] void refuse_value(const std::string& name) const;

 private:
  std::optional<int64_t> find_up_to(const std::string& name, int64_t most, const char* remark);
  template <class T>
  static bool is_a(const nlohmann::json& value) {
    if constexpr (std::is_same_v<T, bool>) {
      return value.is_boolean();
    } else if constexpr (std::is_integral_v<T>) {
      return value.is_number_integer() &&
             (!value.is_number_unsigned() ||
              value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
    } else if constexpr (std::is_floating_point_v<T>) {
      return value.is_number();
    } else {
      return true;
    }
  }

  nlohmann::json json_;
  std::string source_;
  int64_t largest_;
  std::set<std::string> read_;
};

}  // namespace ablate::exchange
