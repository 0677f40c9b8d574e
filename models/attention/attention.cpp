#include "models/attention/attention.h"

namespace ablate::models {
namespace {

/// Returns the values after passing the probabilities to the observer, if there is one.
torch::Tensor observed_values(const ops::AttentionOutput& output, const Observer* observer) {
  if (is_watched(observer)) observer->attention(output.probabilities);
  return output.values;
}

/// The projection of a pass's input.
Linear input_projection(const MultiHead& options, const StackOptions& stack,
                        const std::vector<int64_t>& widths, Projection kind) {
  return Linear(stack.d_model, widths, options.qkv_bias.value_or(stack.bias), kind);
}

Linear output_projection(const MultiHead& options, const StackOptions& stack) {
  return Linear(options.heads * heads_of(options, stack.d_model).d_v, stack.d_model,
                options.output_bias.value_or(stack.bias), Projection::output);
}

}  // namespace

SelfAttention::SelfAttention(const MultiHead& options, const StackOptions& stack)
    : count_(options.heads),
      heads_(heads_of(options, stack.d_model)),
      causal_(stack.causal),
      dropout_(options.dropout),
      qkv_(register_module(
          "qkv", input_projection(options, stack,
                                  {heads_.query_width(), heads_.key_width(), heads_.value_width()},
                                  Projection::qkv))),
      out_(register_module("out", output_projection(options, stack))),
      stages_(*this, {options, stack}) {
  qkv_->makes_queries(heads_.d_k);
}

torch::Tensor SelfAttention::forward(const torch::Tensor& x, const ops::AttentionPosition& position,
                                     const ForwardContext& context) {
  const StagePass pass{x, position, context};
  auto own = projected(pass);
  auto input = scored(own, pass);
  input.causal = causal_;
  input.dropout = context.dropout_at(site(), dropout_);
  const auto values = attended(input, context);
  return out_(observed_heads(stages_.read(values, own, pass), count_, context.observer));
}

torch::Tensor SelfAttention::step(const torch::Tensor& x, KVCache& cache,
                                  const ops::AttentionPosition& position,
                                  const ForwardContext& context) {
  const StagePass pass{x, position, context, &cache};
  auto own = projected(pass);
  auto input = scored(own, pass);
  input.causal = true;
  return out_(stages_.read(ops::attention(input, cache).values, own, pass));
}

Projections SelfAttention::projected(const StagePass& pass) {
  Projections own(convolved(qkv_(pass.x), pass.cache), heads_);
  stages_.project(own, pass);
  return own;
}

ops::AttentionInput SelfAttention::scored(const Projections& own, const StagePass& pass) const {
  ops::AttentionInput input{.query = own.packed(), .heads = own.heads(), .position = pass.position};
  stages_.score(input);
  return input;
}

KVCache SelfAttention::empty_cache(const torch::Tensor& like) const {
  auto cache = ops::empty_cache(like, heads_);
  stages_.begin(cache, like);
  return cache;
}

void SelfAttention::clip_scores(const torch::Tensor& largest, double most) {
  const torch::NoGradGuard no_grad;
  const bool shared = heads_.key_values != heads_.count;
  const auto factor = clip_factor(largest, most);  // [H]
  const auto own = (shared ? factor : factor.sqrt()).repeat_interleave(heads_.d_k);
  qkv_->scale_outputs(0, own);
  if (!shared) qkv_->scale_outputs(heads_.query_width(), own);
}

std::shared_ptr<Mixer> MultiHead::make(const StackOptions& stack) const {
  return std::make_shared<SelfAttention>(*this, stack);
}

CrossAttentionImpl::CrossAttentionImpl(const MultiHead& options, const StackOptions& stack)
    : count_(options.heads),
      heads_(heads_of(options, stack.d_model)),
      dropout_(options.dropout),
      query_(register_module(
          "query", input_projection(options, stack, {heads_.query_width()}, Projection::query))),
      key_value_(register_module(
          "key_value", input_projection(options, stack, {heads_.key_width(), heads_.value_width()},
                                        Projection::qkv))),
      out_(register_module("out", output_projection(options, stack))),
      stages_(*this, {options, stack}) {
  query_->makes_queries(heads_.d_k);
}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const StackOutput& memory,
                                          const ForwardContext& context) {
  const StagePass pass{x, {}, context};
  auto own = queries(pass);
  auto input = scored(own, memory.padding_mask, context);
  input.key_value = keys_and_values(memory.output);
  input.position.kept_mask = memory.kept_mask;
  input.dropout = context.dropout_at(site(), dropout_);
  const auto values = observed_values(ops::attention(input), context.observer);
  return out_(observed_heads(stages_.read(values, own, pass), count_, context.observer));
}

torch::Tensor CrossAttentionImpl::step(const torch::Tensor& x, KVCache& memory,
                                       const torch::Tensor& padding_mask,
                                       const ForwardContext& context) {
  const StagePass pass{x, {}, context};
  auto own = queries(pass);
  const auto input = scored(own, padding_mask, context);
  const auto values = observed_values(ops::attention(input, memory), context.observer);
  return out_(stages_.read(values, own, pass));
}

KVCache CrossAttentionImpl::project(const torch::Tensor& memory) {
  return ops::cache_of(keys_and_values(memory), heads_);
}

Projections CrossAttentionImpl::queries(const StagePass& pass) {
  Projections own(query_(pass.x), heads_, Projections::Parts::queries);
  stages_.project(own, pass);
  return own;
}

torch::Tensor CrossAttentionImpl::keys_and_values(const torch::Tensor& memory) {
  Projections own(key_value_(memory), heads_, Projections::Parts::keys_and_values);
  stages_.project(own, {memory, {}, {}});
  return own.packed();
}

ops::AttentionInput CrossAttentionImpl::scored(const Projections& own,
                                               const torch::Tensor& padding_mask,
                                               const ForwardContext& context) const {
  ops::AttentionInput input{.query = own.packed(),
                            .heads = heads_,
                            .padding_mask = padding_mask,
                            .wants_probabilities = is_watched(context.observer)};
  stages_.score(input);
  return input;
}

}  // namespace ablate::models
