#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "training/storage/errors.h"

namespace ablate::training {

/// Parses JSON; a discarded value if `text` is not JSON or nested deeper than 64 levels, since
/// functions that walk over a value recurse.
nlohmann::json parse_json(std::string_view text);

/// Throw nlohmann::json::exception if `value` is no object, and if a number in it is no integer of
/// 64 bits with a sign.
void require_object(const nlohmann::json& value);
void require_integers(const nlohmann::json& value);

/// `value` with each number that JSON cannot hold as the string "NaN", "Infinity" or "-Infinity".
nlohmann::json without_non_finite(nlohmann::json value);

/// Undoes it: those strings become numbers again.
nlohmann::json with_non_finite(nlohmann::json value);

/// A struct whose members fields() lists by name.
template <class T>
concept Record = requires(T& o) {
  T::fields(o, [](const char*, auto&) {});
};

template <class T>
inline constexpr bool is_record_list = false;
template <Record T>
inline constexpr bool is_record_list<std::vector<T>> = true;

/// The members by name, including those of nested structs and lists of structs. Numbers that are
/// not finite are written as without_non_finite() does.
template <Record T>
nlohmann::json to_json(const T& record) {
  auto json = nlohmann::json::object();
  T::fields(record, [&]<class Member>(const char* name, const Member& member) {
    if constexpr (Record<Member>) {
      json[name] = to_json(member);
    } else if constexpr (is_record_list<Member>) {
      json[name] = nlohmann::json::array();
      for (const auto& one : member) json[name].push_back(to_json(one));
    } else {
      json[name] = without_non_finite(member);
    }
  });
  return json;
}

/// Undoes to_json(); a text that reads "NaN" stays a text. Throws nlohmann::json::exception if
/// `json` is not an object, or a member is missing or of another type, such as a fraction for an
/// integer.
template <Record T>
T from_json(const nlohmann::json& json) {
  require_object(json);
  T record;
  // Calls name the namespace: without it they find nlohmann's functions of that name, too.
  T::fields(record, [&]<class Member>(const char* name, Member& member) {
    const auto& value = json.at(name);
    if constexpr (Record<Member>) {
      member = training::from_json<Member>(value);
    } else if constexpr (is_record_list<Member>) {
      member.clear();
      for (const auto& one : value)
        member.push_back(training::from_json<typename Member::value_type>(one));
    } else if constexpr (std::is_floating_point_v<Member> ||
                         std::is_same_v<Member, std::vector<double>>) {
      with_non_finite(value).get_to(member);
    } else {
      require_integers(value);
      value.get_to(member);
    }
  });
  return record;
}

/// The bytes of a file: indented, with an end of line, and valid UTF-8.
std::string json_file(const nlohmann::json& json);

/// An object as the bytes of a file that holds the digest of everything else in it, so that no byte
/// of it can change unnoticed. Numbers must be finite (without_non_finite()).
std::string sealed_json(nlohmann::json object);

/// The object of such a file, without the digest. Throws CheckpointError if the file is damaged,
/// with `remedy` after the reason, and IoError if it cannot be read.
nlohmann::json read_sealed_json(const std::filesystem::path& path, const std::string& remedy = "");

}  // namespace ablate::training
