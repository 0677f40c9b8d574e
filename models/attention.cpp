#include "models/attention.h"

#include "models/layer.h"

namespace ablate::models {
namespace {

bool is_watched(const Observer* observer) { return observer != nullptr && observer->attention; }

/// Widths of the projected queries, keys and values.
std::vector<int64_t> widths_of(const MultiHead& options, int64_t d_model) {
  const auto heads = heads_of(options, d_model);
  return {heads.query_width(), heads.key_width(), heads.value_width()};
}

/// Returns the values after passing the probabilities to the observer, if there is one.
torch::Tensor observed_values(const ops::AttentionOutput& output, const Observer* observer) {
  if (is_watched(observer)) observer->attention(output.probabilities);
  return output.values;
}

}  // namespace

SelfAttention::SelfAttention(const MultiHead& options, const StackOptions& stack)
    : heads_(scored_heads_of(options, stack.d_model)),
      causal_(stack.causal),
      qkv_(register_module("qkv", Linear(stack.d_model, widths_of(options, stack.d_model),
                                         options.qkv_bias.value_or(stack.bias), Projection::qkv))),
      out_(register_module("out",
                           Linear(options.heads * heads_.d_v, std::vector{stack.d_model},
                                  options.output_bias.value_or(stack.bias), Projection::output))),
      head_options_(*this, options, stack) {}

torch::Tensor SelfAttention::forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                                     const ops::AttentionPosition& position,
                                     const Observer* observer) {
  auto input = reads(x, nullptr, position);
  input.padding_mask = padding_mask;
  input.causal = causal_;
  input.wants_probabilities = is_watched(observer);
  if (observer != nullptr && observer->largest_scores)
    observer->largest_scores(*this, ops::largest_scores(input));
  const auto read = head_options_.of_heads(observed_values(ops::attention(input), observer), x);
  const auto values = head_options_.gated(head_options_.exclusive(read, input.query), x);
  return out_(observed_heads(values, head_options_.count(), observer));
}

void SelfAttention::clip_scores(const torch::Tensor& largest, double most) {
  const torch::NoGradGuard no_grad;
  const bool shared = heads_.key_values != heads_.count;
  const auto factor = clip_factor(largest, most);  // [H]
  const auto own = (shared ? factor : factor.sqrt()).repeat_interleave(heads_.d_k);
  qkv_->scale_outputs(0, own);
  if (!shared) qkv_->scale_outputs(heads_.query_width(), own);
}

torch::Tensor SelfAttention::step(const torch::Tensor& x, KVCache& cache,
                                  const ops::AttentionPosition& position) {
  auto input = reads(x, &cache, position);
  input.causal = true;
  const auto read = head_options_.of_heads(ops::attention(input, cache).values, x);
  return out_(head_options_.gated(head_options_.exclusive(read, input.query), x));
}

ops::AttentionInput SelfAttention::reads(const torch::Tensor& x, KVCache* cache,
                                         const ops::AttentionPosition& position) {
  const auto projected =
      head_options_.mixed_values(convolved(qkv_(x), cache), x, position);  // [B, T, HK + GK + GW]
  const bool scheme = position.content != nullptr;
  const auto scaled = scheme ? head_options_.unscaled_query_key_value(projected)
                             : head_options_.query_key_value(projected);
  return {.query = head_options_.forgetful(scaled, x, cache),
          .heads = heads_,
          .position = position,
          .weighting = head_options_.weighting(),
          .factor = scheme ? head_options_.factor() : ops::QueryFactor()};
}

KVCache SelfAttention::empty_cache(const torch::Tensor& like) const {
  auto cache = ops::empty_cache(like, heads_);
  cache.recent[2] = head_options_.first_sums(like);
  return cache;
}

CrossAttentionImpl::CrossAttentionImpl(const MultiHead& options, const StackOptions& stack)
    : heads_(heads_of(options, stack.d_model)),
      query_(register_module("query",
                             Linear(stack.d_model, std::vector{heads_.query_width()},
                                    options.qkv_bias.value_or(stack.bias), Projection::query))),
      key_value_(register_module(
          "key_value", Linear(stack.d_model, std::vector{heads_.key_width(), heads_.value_width()},
                              options.qkv_bias.value_or(stack.bias), Projection::qkv))),
      out_(register_module("out",
                           Linear(options.heads * heads_.d_v, std::vector{stack.d_model},
                                  options.output_bias.value_or(stack.bias), Projection::output))),
      head_options_(*this, options, stack) {}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const StackOutput& memory,
                                          const Observer* observer) {
  auto input = reads(x, memory.padding_mask, observer);
  input.key_value = head_options_.key_value(key_value_(memory.output));
  input.position.kept_mask = memory.kept_mask;
  const auto read = head_options_.of_heads(observed_values(ops::attention(input), observer), x);
  return out_(observed_heads(head_options_.gated(read, x), head_options_.count(), observer));
}

KVCache CrossAttentionImpl::project(const torch::Tensor& memory) {
  return ops::cache_of(head_options_.key_value(key_value_(memory)), heads_);
}

torch::Tensor CrossAttentionImpl::step(const torch::Tensor& x, KVCache& memory,
                                       const torch::Tensor& padding_mask,
                                       const Observer* observer) {
  const auto read =
      observed_values(ops::attention(reads(x, padding_mask, observer), memory), observer);
  return out_(head_options_.gated(head_options_.of_heads(read, x), x));
}

ops::AttentionInput CrossAttentionImpl::reads(const torch::Tensor& x,
                                              const torch::Tensor& padding_mask,
                                              const Observer* observer) {
  return {.query = head_options_.query(query_(x)),
          .heads = heads_,
          .padding_mask = padding_mask,
          .wants_probabilities = is_watched(observer),
          .weighting = head_options_.weighting()};
}

}  // namespace ablate::models
