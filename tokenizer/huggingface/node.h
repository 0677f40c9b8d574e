#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/text/tokenizer_error.h"

namespace ablate::tokenizer::huggingface {

/// A value of tokenizer.json, which must outlive it, and its place there, which every message
/// names. All readers throw TokenizerError if the value is of another kind.
class Node {
 public:
  Node(const nlohmann::json& value, std::string place) : value_(&value), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& reason) const;

  /// The member of an object; none if it is absent or null.
  std::optional<Node> find(const char* key) const;
  Node at(const char* key) const;
  /// Refuses any other member than these and "type".
  void allow(std::initializer_list<std::string_view> keys) const;
  /// The member "type"; empty if there is none.
  std::string type() const;

  bool is_list() const;
  std::string text() const;
  bool flag() const;
  bool flag(const char* key, bool otherwise) const;
  double number() const;
  /// A whole number from 0 to `most`.
  int64_t count(int64_t most) const;
  /// A text of one character.
  char32_t character() const;
  std::vector<Node> list() const;
  std::vector<std::pair<std::string, Node>> members() const;

 private:
  const nlohmann::json* value_;
  std::string place_;
};

/// A tokenizer.json. Throws TokenizerError unless it is one object of at most 128 MiB, without a
/// key that stands twice in one object and nested at most 64 deep.
nlohmann::json read_document(std::string_view text);

}  // namespace ablate::tokenizer::huggingface
