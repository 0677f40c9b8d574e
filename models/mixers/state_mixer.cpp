#include "models/mixers/state_mixer.h"

#include <vector>

#include "models/ops/backend.h"
#include "models/ops/elementwise.h"

namespace ablate::models {

torch::Tensor Kept::products(const torch::Tensor& query, const torch::Tensor& key) const {
  if (log_.defined() && log_.size(-1) > 1) {
    const auto between = (log_.unsqueeze(2) - log_.unsqueeze(3)).clamp_max(0.0).exp();
    const auto by_key = (between * query.unsqueeze(2)).matmul(key.unsqueeze(-1));
    return by_key.squeeze(-1).transpose(2, 3).tril();  // from [B, H, keys, queries, 1]
  }
  const auto all = query.matmul(key.transpose(2, 3)).tril();
  return log_.defined() ? all * (log_ - log_.transpose(2, 3)).tril().exp() : all;
}

torch::Tensor Kept::state_after(const torch::Tensor& state, const torch::Tensor& key,
                                const torch::Tensor& value) const {
  if (!continues_) return state;
  if (!log_.defined()) return state + key.transpose(2, 3).matmul(value);
  const auto last = log_.slice(2, -1);  // [B, H, 1, 1 or K]
  return state * last.transpose(2, 3).exp() +
         (key * (last - log_).exp()).transpose(2, 3).matmul(value);
}

namespace {

/// The positions in chunks of at most `most`, which are read one after another.
std::vector<StateHeads> chunks_of(const StateHeads& all, int64_t most) {
  const int64_t positions = all.query.size(2);
  const int64_t length = ops::positions_at_once(most, positions);
  if (length >= positions) return {all};
  std::vector<StateHeads> chunks;
  for (int64_t begin = 0; begin < positions; begin += length) {
    const auto part = [&](const torch::Tensor& x) {
      return x.defined() ? x.slice(2, begin, begin + length) : x;
    };
    chunks.push_back(
        {part(all.query), part(all.key), part(all.value), part(all.strength), part(all.log_kept)});
  }
  chunks.back().continues = all.continues;
  return chunks;
}

}  // namespace

torch::Tensor StateMixer::continued(const torch::Tensor& x, const StateHeads& all, KVCache& cache,
                                    const Observer* observer) {
  auto state = cache.concatenate();
  std::vector<torch::Tensor> parts;
  for (const auto& chunk : chunks_of(all, chunk_)) parts.push_back(read(chunk, state));
  cache.blocks = {state};
  return finished(x, all, parts.size() == 1 ? parts.front() : torch::cat(parts, 2), observer);
}

torch::Tensor empty_state(const torch::Tensor& like, int64_t heads, int64_t keys, int64_t values) {
  const auto one = torch::zeros_like(ops::wide(like.narrow(1, 0, 1).narrow(2, 0, 1)));  // [B, 1, 1]
  return one.unsqueeze(-1).expand({-1, heads, keys, values});
}

}  // namespace ablate::models
