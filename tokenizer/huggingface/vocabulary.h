#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokenizer/huggingface/hidden.h"
#include "tokenizer/huggingface/node.h"

namespace ablate::tokenizer::huggingface {

inline constexpr int64_t kLargestId = (int64_t{1} << 24U) - 1;

/// Tokens and their ids, each of which stands once. Ids may be missing.
class Vocabulary {
 public:
  using Ids = std::unordered_map<std::string, int32_t>;

  Vocabulary() = default;
  /// {token: id, ...}
  explicit Vocabulary(const Node& node);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  /// Throws TokenizerError at `place` if the token or the id is taken.
  void add(std::string token, int64_t id, const Node& place);

  std::optional<int32_t> id(std::string_view token) const {
    const auto found = ids_.find(std::string(token));
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Null if no token has the id.
  const std::string* token(int32_t id) const;
  const Ids& ids() const { return ids_; }
  size_t size() const { return ids_.size(); }
  /// One more than the largest id.
  int64_t end() const { return end_; }

 private:
  Ids ids_;
  std::unordered_map<int32_t, const std::string*> tokens_;  // they point into ids_
  int64_t end_ = 0;
};

/// The tokens <0x00> to <0xFF>, which write what the vocabulary lacks.
class ByteFallback {
 public:
  ByteFallback() = default;  // writes nothing
  explicit ByteFallback(const Vocabulary& vocabulary);

  /// Appends the ids of the text's bytes; false if the vocabulary lacks one of them.
  bool write(std::string_view text, std::vector<int32_t>& ids) const;

 private:
  std::vector<int32_t> ids_;  // of all bytes, negative if there is none
};

}  // namespace ablate::tokenizer::huggingface
