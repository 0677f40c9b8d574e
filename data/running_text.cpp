#include "data/running_text.h"

#include <algorithm>
#include <utility>

namespace ablate::data {

std::vector<int32_t> concatenate(std::span<const Example> texts,
                                 const tokenizer::Tokenizer& tokenizer) {
  std::vector<int32_t> all;
  for (const auto& text : texts) {
    const auto ids = tokenizer.encode(text.target);
    all.insert(all.end(), ids.begin(), ids.end());
    all.push_back(tokenizer::kEos);
  }
  return all;
}

std::vector<EncodedExample> chunk(std::span<const int32_t> ids, const Chunking& chunking) {
  const size_t overlap = chunking.masked ? 0 : 1;
  const auto block = static_cast<size_t>(chunking.block);
  std::vector<EncodedExample> blocks;
  auto length = chunking.offset > 0 ? static_cast<size_t>(chunking.offset) : block;
  for (size_t begin = 0; begin + overlap < ids.size(); begin += std::exchange(length, block)) {
    const auto part = ids.subspan(begin, std::min(length + overlap, ids.size() - begin));
    EncodedExample one{.prompt_length = 1};
    if (chunking.masked) one.target.push_back(kStartToken);
    one.target.insert(one.target.end(), part.begin(), part.end());
    if (chunking.masked) one.source = one.target;
    blocks.push_back(std::move(one));
  }
  return blocks;
}

std::vector<int32_t> unchunk(std::span<const EncodedExample> blocks, bool masked) {
  std::vector<int32_t> ids;
  if (!masked && !blocks.empty()) ids.push_back(blocks.front().target.front());
  for (const auto& block : blocks)
    ids.insert(ids.end(), block.target.begin() + block.prompt_length, block.target.end());
  return ids;
}

}  // namespace ablate::data
