#include "models/ops/attention.h"

#include <ATen/ExpandUtils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/elementwise.h"
#include "models/ops/products.h"

namespace ablate::models::ops {
namespace {

bool has_own_keys(const AttentionInput& in) { return in.query.size(-1) > in.heads.query_width(); }

KVCache::Block split_key_value(const torch::Tensor& key_value, const Heads& heads) {
  const auto parts = key_value.split_with_sizes({heads.key_width(), heads.value_width()}, -1);
  return {split_heads(parts[0], heads.key_values), split_heads(parts[1], heads.key_values)};
}

/// The parts of `query`; queries and keys are rotated.
struct OwnHeads {
  torch::Tensor query;       // [B, H, T, K]
  KVCache::Block key_value;  // of the same positions; undefined: none
};

OwnHeads own_heads(const AttentionInput& in) {
  const auto& heads = in.heads;
  const auto turned = [&](const torch::Tensor& x, int64_t count) {
    return rotate(split_heads(x, count), in.position.rotation);
  };
  if (!has_own_keys(in)) return {.query = turned(in.query, heads.count), .key_value = {}};
  const auto parts =
      in.query.split_with_sizes({heads.query_width(), heads.key_width(), heads.value_width()}, -1);
  return {
      .query = turned(parts[0], heads.count),
      .key_value = {turned(parts[1], heads.key_values), split_heads(parts[2], heads.key_values)}};
}

/// 1, 2, 3, ... for every key, from operations a trace keeps. // [B, G, S, K] -> [S]
torch::Tensor key_numbers(const torch::Tensor& key) {
  return torch::ones_like(key.select(0, 0).select(0, 0).select(-1, 0), torch::kLong).cumsum(0);
}

bool masks_future(const AttentionInput& in) { return in.causal && in.query.size(1) > 1; }

/// Which keys each query may attend to, not counting the bias. // [B or 1, 1, T or 1, S]
torch::Tensor visible_keys(const torch::Tensor& key, const AttentionInput& in) {
  torch::Tensor visible;
  if (in.padding_mask.defined()) visible = in.padding_mask.unsqueeze(1).unsqueeze(1);
  if (const auto& documents = in.position.documents; documents.defined()) {
    const auto same =
        documents.unsqueeze(1).eq(in.position.query_documents.unsqueeze(2)).unsqueeze(1);
    visible = visible.defined() ? visible.logical_and(same) : same;  // [B, 1, T, S]
  }
  if (visible.defined() && !masks_future(in)) return visible;
  const auto keys = key_numbers(key);
  const auto own = keys.slice(0, key.size(2) - in.query.size(1));              // [T]
  const auto past = masks_future(in) ? keys.unsqueeze(0).le(own.unsqueeze(1))  // [T, S]
                                     : torch::ones_like(keys, torch::kBool).unsqueeze(0);
  return visible.defined() ? visible.logical_and(past) : past.unsqueeze(0).unsqueeze(0);
}

/// A mask for fused kernels, which copy one whose rows are not aligned.
torch::Tensor empty_mask(std::vector<int64_t> sizes, torch::TensorOptions type) {
  constexpr int64_t kAlignment = 16;
  const int64_t keys = sizes.back();
  sizes.back() = (keys + kAlignment - 1) / kAlignment * kAlignment;
  return torch::empty(sizes, type).slice(-1, 0, keys);
}

/// What a fused kernel adds to scores, or which keys are visible; null: all are.
/// // [B or 1, H or 1, T or 1, S]
std::optional<torch::Tensor> mask_of(const torch::Tensor& query, const torch::Tensor& key,
                                     const AttentionInput& in) {
  constexpr double kHidden = -std::numeric_limits<float>::infinity();
  const bool added = in.position.bias.defined(), elsewhere = computes_elsewhere(query);
  const bool continues = query.size(2) != key.size(2);
  std::optional<torch::Tensor> visible;
  if (in.padding_mask.defined() || in.position.documents.defined() ||
      (masks_future(in) && (added || continues)))
    visible = visible_keys(key, in);
  if (!added) {
    if (!visible || !elsewhere) return visible;
    auto mask = empty_mask(visible->sizes().vec(), query.options());
    return at::log_out(mask, *visible);  // one operator instead of the five of SDPA
  }
  const auto bias = in.position.bias.unsqueeze(0);  // [1, H, T, S]
  if (elsewhere) {
    const torch::NoGradGuard no_grad;
    auto mask =
        empty_mask(visible ? at::infer_size(visible->sizes(), bias.sizes()) : bias.sizes().vec(),
                   query.options())
            .copy_(bias);
    return visible ? mask.masked_fill_(visible->logical_not(), kHidden) : mask;
  }
  const auto cast = bias.to(query.scalar_type());
  return visible ? cast.masked_fill(visible->logical_not(), kHidden) : cast;
}

/// The mask of a trained bias, with its gradient. Every use has its own gradient, so that they are
/// added in the bias's type and not in the mask's. // [1, H, T, S], [B or 1, H, T, S]
struct TrainedMask : torch::autograd::Function<TrainedMask> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& bias,
                               const torch::Tensor& mask) {
    context->save_for_backward({bias});
    return mask;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto bias = context->get_saved_variables()[0];
    return {gradients[0].sum_to_size(bias.sizes()).to(bias.scalar_type()), torch::Tensor()};
  }
};

/// The same, computed once for all layers that share it.
std::optional<torch::Tensor> shared_mask(const torch::Tensor& query, const torch::Tensor& key,
                                         const AttentionInput& in) {
  if (!computes_elsewhere(query)) return mask_of(query, key, in);
  auto* kept = in.position.kept_mask.get();
  const bool is_kept = kept != nullptr && kept->defined();
  const auto mask = is_kept ? *kept : mask_of(query, key, in);
  if (!mask) return mask;
  if (kept != nullptr) *kept = *mask;
  const auto& bias = in.position.bias;
  const bool trained = bias.defined() && bias.requires_grad();
  return trained ? TrainedMask::apply(bias.unsqueeze(0), *mask) : *mask;
}

torch::Tensor scaled_dot_product(const torch::Tensor& query, const torch::Tensor& key,
                                 const torch::Tensor& value, const AttentionInput& in) {
  const auto mask = shared_mask(query, key, in);
  const auto needs = [](const auto&... x) { return (x.requires_grad() || ...); };
  // CUDA's kernels compute a mask's gradient only if the query, key or value has one, too.
  const auto kept =
      mask && needs(*mask) && !needs(query, key, value) ? query.detach().requires_grad_() : query;
  return at::scaled_dot_product_attention(kept, key, value, mask, 0.0, masks_future(in) && !mask,
                                          /*scale=*/std::nullopt,
                                          /*enable_gqa=*/in.heads.key_values != in.heads.count);
}

/// Keys or values of every head, those that a group shares repeated. // [B, H, S, *]
torch::Tensor for_every_head(const torch::Tensor& x, const Heads& heads) {
  return heads.key_values == heads.count ? x
                                         : x.repeat_interleave(heads.count / heads.key_values, 1);
}

/// The same without those that a bias of -infinity hides. // [B or 1, H or 1, T or 1, S]
torch::Tensor seen_keys(const torch::Tensor& key, const AttentionInput& in) {
  const auto visible = visible_keys(key, in);
  if (!in.position.bias.defined()) return visible;
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  return visible.logical_and(in.position.bias.gt(kHidden).unsqueeze(0));
}

/// The most keys that a query can see, those that causality hides included.
int64_t most_seen(const torch::Tensor& key, const AttentionInput& in) {
  const auto& window = in.position.window;
  if (!window) return key.size(2);
  return std::min(key.size(2), in.causal ? *window : 2 * *window - 1);
}

/// Attention that materialises its scores, for options without a fused kernel.
AttentionOutput weighted_values(const torch::Tensor& query, const KVCache::Block& memory,
                                const AttentionInput& in) {
  const auto& [key, value] = memory;
  const auto products = query.matmul(for_every_head(key, in.heads).transpose(-1, -2));
  auto scores = wide(products) / std::sqrt(static_cast<double>(in.heads.d_k));  // [B, H, T, S]
  if (in.position.bias.defined()) scores = scores + in.position.bias.unsqueeze(0);
  const auto weights =
      attention_weights(scores, seen_keys(key, in), in.weighting).to(value.scalar_type());
  const auto kept = dropout(weights, in.dropout);
  return {.values = join_heads(kept.matmul(for_every_head(value, in.heads))),
          .probabilities = in.wants_probabilities ? weights : torch::Tensor()};
}

AttentionOutput attend(const torch::Tensor& query, const KVCache::Block& memory,
                       const AttentionInput& in) {
  const auto& [key, value] = memory;
  AttentionOutput output;
  if (in.position.content != nullptr) {
    output.values = join_heads(in.position.content->attend(
        {.query = query,
         .key = for_every_head(key, in.heads),
         .value = for_every_head(value, in.heads),
         .visible = seen_keys(key, in),
         .query_positions = in.position.query_positions,
         .key_positions = in.position.key_positions,
         .layer = in.position.layer,
         .probabilities = in.wants_probabilities ? &output.probabilities : nullptr,
         .weighting = in.weighting,
         .factor = in.factor,
         .dropout = in.dropout,
         .seen = most_seen(key, in)}));
    return output;
  }
  const PartOfProducts seen(most_seen(key, in), key.size(2));
  // LibTorch's fused kernels would draw from a generator that all places share.
  if (!in.weighting.is_softmax() || in.dropout.rate > 0) return weighted_values(query, memory, in);
  output.values = join_heads(scaled_dot_product(query, key, value, in));
  if (in.wants_probabilities) {                                   // the values of one-hot vectors
    const auto one_hot = torch::eye(key.size(2), key.options());  // [S, S]
    output.probabilities =
        scaled_dot_product(query, key, one_hot.expand({key.size(0), key.size(1), -1, -1}), in);
  }
  return output;
}

/// Keys and values once for every head that shares them. // [B, S, GK + GW] -> [B, S, HK + HW]
torch::Tensor repeated(const torch::Tensor& key_value, const Heads& heads) {
  const auto parts = key_value.split_with_sizes({heads.key_width(), heads.value_width()}, -1);
  const auto once_for_all = [&](const torch::Tensor& x) {
    return x.unflatten(-1, {heads.key_values, 1, -1})
        .expand({-1, -1, -1, heads.count / heads.key_values, -1})
        .flatten(2);
  };
  return torch::cat({once_for_all(parts[0]), once_for_all(parts[1])}, -1);
}

/// The same attention of heads that share no keys.
AttentionInput without_groups(AttentionInput in) {
  if (in.heads.key_values == in.heads.count) return in;
  if (in.key_value.defined()) {
    in.key_value = repeated(in.key_value, in.heads);
  } else {
    const int64_t width = in.heads.query_width();
    in.query = torch::cat(
        {in.query.slice(-1, 0, width), repeated(in.query.slice(-1, width), in.heads)}, -1);
  }
  in.heads.key_values = in.heads.count;
  return in;
}

}  // namespace

torch::Tensor QueryFactor::operator()(const torch::Tensor& query) const {
  if (by_head.defined()) return query * by_head.to(query.scalar_type()).view({-1, 1, 1});
  return fixed == 1 ? query : query * fixed;
}

AttentionOutput attention(const AttentionInput& in) {
  if constexpr (kHasKernels)
    if (cpu::serves_packed(in))
      return {.values = cpu::packed_attention(without_groups(in)), .probabilities = {}};
  const auto own = own_heads(in);
  return attend(own.query,
                in.key_value.defined() ? split_key_value(in.key_value, in.heads) : own.key_value,
                in);
}

torch::Tensor largest_scores(const AttentionInput& in) {
  const torch::NoGradGuard no_grad;
  const auto [query, own] = own_heads(in);
  const auto key = for_every_head(own[0], in.heads);
  const auto scores = wide(query.matmul(key.transpose(-1, -2)));  // [B, H, T, S]
  return scores.masked_fill(seen_keys(key, in).logical_not(), std::numeric_limits<float>::lowest())
             .amax({0, 2, 3}) /
         std::sqrt(static_cast<double>(in.heads.d_k));
}

AttentionOutput attention(const AttentionInput& in, KVCache& cache) {
  const auto [query, next] = own_heads(in);
  const bool appends = has_own_keys(in);
  if constexpr (kHasKernels)
    if (cpu::serves_single_query(in)) {
      if (appends) cache.append_block(next);
      return {.values = cpu::single_query_attention(query, cache, in), .probabilities = {}};
    }
  if (appends && computes_elsewhere(query) && !torch::GradMode::is_enabled())
    return attend(query, cache.append_in_place(next), in);
  if (appends) {
    const auto& past = cache.concatenate();
    cache.blocks = {{torch::cat({past[0], next[0]}, 2), torch::cat({past[1], next[1]}, 2)}};
    return attend(query, cache.blocks.front(), in);
  }
  auto own = in;
  if (cache.beam_index.defined() && in.padding_mask.defined())
    own.padding_mask = in.padding_mask.index_select(0, cache.beam_index.select(1, 0));
  return attend(query, cache.reordered(), own);
}

KVCache cache_of(const torch::Tensor& key_value, const Heads& heads) {
  return {.blocks = {split_key_value(key_value, heads)}, .beam_index = {}};
}

KVCache empty_cache(const torch::Tensor& like, const Heads& heads) {
  // Views of `like`, for a trace bakes the batch of a tensor made from numbers.
  const auto none = like.narrow(1, 0, 0).narrow(-1, 0, 1).unsqueeze(1);  // [B, 1, 0, 1]
  return {.blocks = {{none.expand({-1, heads.key_values, -1, heads.d_k}),
                      none.expand({-1, heads.key_values, -1, heads.d_v})}},
          .beam_index = {}};
}

}  // namespace ablate::models::ops
