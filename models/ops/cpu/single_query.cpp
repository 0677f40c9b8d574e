#include "models/kernel/single_attention.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/cpu/run.h"

namespace ablate::models::ops::cpu {
namespace {

kernel::HeadsView view_of(const torch::Tensor& x) {
  return {x.const_data_ptr<float>(), x.stride(0), x.stride(1), x.stride(2)};
}

}  // namespace

bool serves_single_query(const AttentionInput& in) {
  return !in.wants_probabilities && in.position.content == nullptr && in.weighting.is_softmax() && in.query.size(1) == 1 &&
         infers_on_cpu(in.query) && in.query.is_contiguous();
}

torch::Tensor single_query_attention(const torch::Tensor& query, const KVCache& cache,
                                     const AttentionInput& in) {
  const int64_t rows = query.size(0), heads = query.size(1), width = in.heads.d_v;
  std::vector<kernel::KeyValueBlock> blocks;
  int64_t keys = 0;
  for (const auto& [key, value] : cache.blocks) {
    blocks.push_back({view_of(key), view_of(value), key.size(2)});
    keys += key.size(2);
  }
  auto output = torch::empty({rows, 1, heads * width}, query.options());
  const auto index = cache.beam_index.defined() ? cache.beam_index.contiguous() : torch::Tensor();
  const auto mask = in.padding_mask.defined() ? in.padding_mask.contiguous() : torch::Tensor();
  const auto bias = in.position.bias.defined() ? in.position.bias.to(torch::kFloat).contiguous()
                                               : torch::Tensor();
  const kernel::SingleAttention attention{
      .query = view_of(query),
      .blocks = blocks,
      .rows = index.defined() ? index.const_data_ptr<int64_t>() : nullptr,
      .padding_mask = mask.defined() ? mask.const_data_ptr<bool>() : nullptr,
      .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
      .output = output.mutable_data_ptr<float>(),
      .heads = heads,
      .group = heads / in.heads.key_values,
      .keys = keys,
      .d_k = in.heads.d_k,
      .d_v = width};
  at::parallel_for(0, rows * heads, grain(keys * (attention.d_k + width)),
                   [&](int64_t begin, int64_t end) { kernel::attend(attention, begin, end); });
  return output;
}

}  // namespace ablate::models::ops::cpu
