#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ablate::tokenizer::huggingface {

/// A set of texts with ids, which finds those that a text begins with.
class Trie {
 public:
  /// REQUIRES: no text stands twice.
  explicit Trie(std::vector<std::pair<std::string, int32_t>> entries);

  /// Calls visit(length, id) for each entry that `text` begins with, from short to long.
  void prefixes(std::string_view text, const auto& visit) const {
    uint32_t node = 0;
    for (size_t length = 0;; ++length) {
      if (nodes_[node].id >= 0) visit(length, nodes_[node].id);
      if (length == text.size()) return;
      node = child(node, static_cast<unsigned char>(text[length]));
      if (node == 0) return;
    }
  }

 private:
  struct Node {
    uint32_t children = 0;  // where they begin, in the order of their bytes
    uint16_t count = 0;
    unsigned char byte = 0;
    int32_t id = -1;
  };
  using Entries = std::span<const std::pair<std::string, int32_t>>;

  uint32_t child(uint32_t node, unsigned char byte) const;

  std::vector<Node> nodes_;  // the root is the first
};

}  // namespace ablate::tokenizer::huggingface
