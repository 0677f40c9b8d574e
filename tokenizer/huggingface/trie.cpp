#include "tokenizer/huggingface/trie.h"

#include <algorithm>

namespace ablate::tokenizer::huggingface {

Trie::Trie(std::vector<std::pair<std::string, int32_t>> entries) : nodes_(1) {
  std::ranges::sort(entries);
  struct Pending {
    uint32_t node;
    Entries entries;
    size_t depth;
  };
  std::vector<Pending> pending{{0, entries, 0}};
  while (!pending.empty()) {
    auto [node, rest, depth] = pending.back();
    pending.pop_back();
    if (!rest.empty() && rest.front().first.size() == depth) {
      nodes_[node].id = rest.front().second;
      rest = rest.subspan(1);
    }
    nodes_[node].children = static_cast<uint32_t>(nodes_.size());
    while (!rest.empty()) {
      const char byte = rest.front().first[depth];
      const auto end = std::ranges::find_if(
          rest, [byte, at = depth](const auto& entry) { return entry.first[at] != byte; });
      const auto count = static_cast<size_t>(end - rest.begin());
      pending.push_back({static_cast<uint32_t>(nodes_.size()), rest.first(count), depth + 1});
      nodes_.push_back({.byte = static_cast<unsigned char>(byte)});
      ++nodes_[node].count;
      rest = rest.subspan(count);
    }
  }
}

uint32_t Trie::child(uint32_t node, unsigned char byte) const {
  const auto begin = nodes_.begin() + nodes_[node].children;
  const auto end = begin + nodes_[node].count;
  const auto found = std::lower_bound(
      begin, end, byte, [](const Node& one, unsigned char sought) { return one.byte < sought; });
  return found == end || found->byte != byte ? 0 : static_cast<uint32_t>(found - nodes_.begin());
}

}  // namespace ablate::tokenizer::huggingface
