#include "models/kv_cache.h"

namespace ablate::models {
namespace {

KVCache::Block rows_of(const KVCache::Block& block, const torch::Tensor& rows) {
  KVCache::Block result;
  for (size_t i = 0; i < block.size(); ++i)
    if (block[i].defined()) result[i] = block[i].index_select(0, rows);
  return result;
}

}  // namespace

void KVCache::append(Block next) {
  const auto own = torch::arange(next[0].size(0)).unsqueeze(1);  // [B, 1]
  if (!beam_index.defined()) {
    if (!blocks.empty() && blocks[0][0].size(2) == 0) blocks.clear();
    beam_index = blocks.empty() ? own.slice(1, 0, 0) : own;
  }
  blocks.push_back(std::move(next));
  beam_index = torch::cat({beam_index, own}, 1);
}

const KVCache::Block& KVCache::merge() {
  if (beam_index.defined()) {
    const auto rows = beam_index.unbind(1);
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = rows_of(blocks[i], rows[i]);
    beam_index.reset();
  }
  if (blocks.size() > 1) {
    Block all;
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<torch::Tensor> parts;
      for (const auto& block : blocks) parts.push_back(block[i]);
      all[i] = torch::cat(parts, 2);
    }
    blocks = {std::move(all)};
  }
  return blocks.front();
}

const KVCache::Block& KVCache::gathered() {
  if (!beam_index.defined()) return blocks.front();
  if (!gathered_by.is_same(beam_index)) {
    gathered_block = rows_of(blocks.front(), beam_index.select(1, 0));
    gathered_by = beam_index;
  }
  return gathered_block;
}

void KVCache::reorder(const torch::Tensor& order) {
  if (beam_index.defined())
    beam_index = beam_index.index_select(0, order);
  else if (!blocks.empty())
    beam_index = order.unsqueeze(1).expand({-1, static_cast<int64_t>(blocks.size())});
}

}  // namespace ablate::models
