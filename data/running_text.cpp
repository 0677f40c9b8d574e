#include "data/running_text.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ablate::data {

std::vector<int32_t> concatenate(std::span<const Example> texts, const TextEncoder& encode) {
  std::vector<int32_t> all;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto ids = encode(i, texts[i].target);
    all.insert(all.end(), ids.begin(), ids.end());
    all.push_back(tokenizer::kEos);
  }
  return all;
}

std::vector<Block> cut(std::span<const int32_t> ids, const Chunking& chunking) {
  const size_t overlap = chunking.masked ? 0 : 1;
  const auto block = static_cast<size_t>(chunking.block);
  std::vector<Block> blocks;
  auto length = chunking.offset > 0 ? static_cast<size_t>(chunking.offset) : block;
  for (size_t begin = 0; begin + overlap < ids.size(); begin += std::exchange(length, block))
    blocks.push_back(ids.subspan(begin, std::min(length + overlap, ids.size() - begin)));
  return blocks;
}

EncodedExample example_of(Block block, bool masked) {
  std::vector<int32_t> ids(masked ? 1 : 0, kStartToken);
  ids.reserve(ids.size() + block.size());
  std::ranges::copy(block, std::back_inserter(ids));
  return {.source = masked ? ids : std::vector<int32_t>(), .target = ids, .prompt_length = 1};
}

std::vector<EncodedExample> chunk(std::span<const int32_t> ids, const Chunking& chunking) {
  std::vector<EncodedExample> examples;
  for (const auto block : cut(ids, chunking))
    examples.push_back(example_of(block, chunking.masked));
  return examples;
}

}  // namespace ablate::data
