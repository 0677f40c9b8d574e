#include "models/kv_cache.h"

#include <ATen/ops/index_select.h>

#include <algorithm>
#include <bit>

namespace ablate::models {
namespace {

KVCache::Block rows_of(KVCache::Block block, const torch::Tensor& rows) {
  for (auto& x : block)
    if (x.defined()) x = x.index_select(0, rows);
  return block;
}

}  // namespace

void KVCache::append_block(Block next) {
  const auto own = torch::arange(next[0].size(0)).unsqueeze(1);  // [B, 1]
  if (!beam_index.defined()) {
    if (!blocks.empty() && blocks[0][0].size(2) == 0) blocks.clear();
    beam_index = blocks.empty() ? own.slice(1, 0, 0) : own;
  }
  blocks.push_back(std::move(next));
  beam_index = torch::cat({beam_index, own}, 1);
}

const KVCache::Block& KVCache::append_in_place(const Block& next) {
  const auto& [key, value] = next;
  const int64_t length = blocks.front()[0].size(2), end = length + key.size(2);
  const int64_t width = key.size(3), both = width + value.size(3);
  if (!room.defined() || beam_index.defined() || room.size(2) < end) {
    constexpr uint64_t kFewest = 16;
    const auto places = std::bit_ceil(std::max(static_cast<uint64_t>(end), kFewest));
    const auto past = std::exchange(
        room, torch::empty({key.size(0), key.size(1), static_cast<int64_t>(places), both},
                           key.options()));
    auto kept = room.narrow(2, 0, length);
    if (past.defined() && beam_index.defined())
      torch::index_select_out(kept, past.narrow(2, 0, length), 0, beam_index.select(1, 0));
    else if (past.defined())
      kept.copy_(past.narrow(2, 0, length));
    beam_index.reset();
  }
  const auto added = room.narrow(2, length, key.size(2)), all = room.narrow(2, 0, end);
  added.narrow(3, 0, width).copy_(key);
  added.narrow(3, width, both - width).copy_(value);
  blocks = {{all.narrow(3, 0, width), all.narrow(3, width, both - width)}};
  return blocks.front();
}

const KVCache::Block& KVCache::concatenate() {
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

void KVCache::keep_first(int64_t count) {
  int64_t before = 0;
  size_t kept = 0;
  // The first block stays even without positions, since it gives later ones their sizes.
  for (; kept < blocks.size() && (kept == 0 || before < count); ++kept) {
    const auto left = std::min(blocks[kept][0].size(2), count - before);
    for (auto& part : blocks[kept])
      if (part.defined()) part = part.narrow(2, 0, left);
    before += left;
  }
  blocks.resize(kept);
  if (beam_index.defined()) beam_index = beam_index.narrow(1, 0, static_cast<int64_t>(kept));
}

const KVCache::Block& KVCache::reordered() {
  if (!beam_index.defined()) return blocks.front();
  if (!reordered_by.is_same(beam_index)) {
    reordered_block = rows_of(blocks.front(), beam_index.select(1, 0));
    reordered_by = beam_index;
  }
  return reordered_block;
}

void KVCache::reorder(const torch::Tensor& order) {
  for (auto& [name, x] : state) x = x.index_select(0, order);
  if (beam_index.defined())
    beam_index = beam_index.index_select(0, order);
  else if (!blocks.empty())
    beam_index = order.unsqueeze(1).expand({-1, static_cast<int64_t>(blocks.size())});
}

}  // namespace ablate::models
