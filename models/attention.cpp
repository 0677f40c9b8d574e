#include "models/attention.h"

#include <cmath>

#include "models/layer.h"

namespace ablate::models {
namespace {

bool is_watched(const Observer* observer) { return observer != nullptr && observer->attention; }

/// Returns the values after passing the probabilities to the observer, if there is one.
torch::Tensor observed_values(const ops::AttentionOutput& output, const Observer* observer) {
  if (is_watched(observer)) observer->attention(output.probabilities);
  return output.values;
}

/// The factor of queries: not 1 if the scale differs from 1 / sqrt(d_k) or the parametrization
/// changes the size of scores.
double query_factor_of(const MultiHead& options, const StackOptions& stack) {
  const auto d_k = static_cast<double>(heads_of(options, stack.d_model).d_k);
  const double chosen = options.scale.value ? *options.scale.value * std::sqrt(d_k) : 1;
  if (options.d_k) return chosen;
  return chosen *
         std::sqrt(static_cast<double>(base_width_of(stack.parametrization, stack.d_model)) /
                   static_cast<double>(stack.d_model));
}

}  // namespace

ops::Heads heads_of(const MultiHead& options, int64_t d_model) {
  return {.count = options.heads,
          .key_values = options.key_value_heads.value_or(options.heads),
          .d_k = options.d_k.value_or(d_model / options.heads),
          .d_v = options.d_v.value_or(d_model / options.heads)};
}

HeadOptionsModule::HeadOptionsModule(Module& owner, const MultiHead& options,
                                     const StackOptions& stack)
    : heads_(heads_of(options, stack.d_model)),
      score_function_(options.score_function),
      softcap_(options.softcap),
      factor_(query_factor_of(options, stack)),
      mixes_values_(options.value_residual != ValueResidual::none),
      exclusive_(options.exclusive) {
  if (options.qk_norm != QkNorm::none) {
    const NormOptions norm{.kind = options.qk_norm == QkNorm::rms ? NormKind::rms : NormKind::layer,
                           .epsilon = stack.layers.front().norm.epsilon};
    query_norm_ = owner.register_module("query_norm", Norm(norm, heads_.d_k, false));
    key_norm_ = owner.register_module("key_norm", Norm(norm, heads_.d_k, false));
  }
  const auto trained = [&](const std::string& name, double first) {
    return owner.register_parameter(name, {heads_.count}, Constant{first}, Role::vector);
  };
  if (options.scale.learned) scale_ = trained("scale", factor_ / root());
  if (options.sinks) sinks_ = trained("sinks", 0);
  if (options.value_residual == ValueResidual::learned)
    value_factors_ = owner.register_parameter("value_residual", {2}, Constant{0.5}, Role::vector);
  if (options.gate == OutputGate::none) return;
  const int64_t gates = heads_.count * (options.gate == OutputGate::head ? 1 : heads_.d_v);
  gate_ = owner.register_module(
      "gate", Linear(stack.d_model, std::vector{gates}, stack.bias,
                     options.gate == OutputGate::head && !options.d_k ? Projection::head_gate
                                                                      : Projection::query));
}

double HeadOptionsModule::root() const { return std::sqrt(static_cast<double>(heads_.d_k)); }

torch::Tensor HeadOptionsModule::normed_query(const torch::Tensor& projected) {
  if (!query_norm_) return projected;
  return query_norm_(projected.unflatten(-1, {heads_.count, -1}), ForwardContext()).flatten(-2);
}

ops::QueryFactor HeadOptionsModule::factor() const {
  return {.fixed = factor_, .by_head = scale_.defined() ? scale_ * root() : scale_};
}

torch::Tensor HeadOptionsModule::query(const torch::Tensor& projected) {
  if (!query_norm_ && !scale_.defined()) return factor_ == 1 ? projected : projected * factor_;
  auto x = projected.unflatten(-1, {heads_.count, -1});  // [B, T, H, K]
  if (query_norm_) x = query_norm_(x, ForwardContext());
  if (scale_.defined())
    x = x * (scale_ * root()).to(x.scalar_type()).unsqueeze(-1);
  else if (factor_ != 1)
    x = x * factor_;
  return x.flatten(-2);
}

torch::Tensor HeadOptionsModule::key_value(const torch::Tensor& projected) {
  if (!key_norm_) return projected;
  const auto parts = projected.split_with_sizes({heads_.key_width(), heads_.value_width()}, -1);
  const auto keys = parts[0].unflatten(-1, {heads_.key_values, -1});  // [B, S, G, K]
  return torch::cat({key_norm_(keys, ForwardContext()).flatten(-2), parts[1]}, -1);
}

torch::Tensor HeadOptionsModule::query_key_value(const torch::Tensor& projected) {
  if (!query_norm_ && !scale_.defined() && factor_ == 1) return projected;
  const auto parts = projected.split_with_sizes(
      {heads_.query_width(), heads_.key_width() + heads_.value_width()}, -1);
  return torch::cat({query(parts[0]), key_value(parts[1])}, -1);
}

torch::Tensor HeadOptionsModule::unscaled_query_key_value(const torch::Tensor& projected) {
  if (!query_norm_) return projected;
  const auto parts = projected.split_with_sizes(
      {heads_.query_width(), heads_.key_width() + heads_.value_width()}, -1);
  return torch::cat({normed_query(parts[0]), key_value(parts[1])}, -1);
}

ops::Weighting HeadOptionsModule::weighting() const {
  return {.score_function = score_function_, .softcap = softcap_, .sinks = sinks_};
}

torch::Tensor HeadOptionsModule::mixed_values(const torch::Tensor& projected,
                                              const ops::AttentionPosition& position) const {
  if (!mixes_values_) return projected;
  const int64_t width = heads_.value_width();
  const auto parts = projected.split_with_sizes({projected.size(-1) - width, width}, -1);
  const auto& own = parts[1];  // [B, T, GW]
  auto& first = *position.first_values;
  if (!first.defined()) first = own;
  if (!value_factors_.defined()) return torch::cat({parts[0], (own + first) * 0.5}, -1);
  const auto factors = value_factors_.to(own.scalar_type());
  return torch::cat({parts[0], own * factors[0] + first * factors[1]}, -1);
}

torch::Tensor HeadOptionsModule::exclusive(const torch::Tensor& values,
                                           const torch::Tensor& own) const {
  if (!exclusive_) return values;
  constexpr double kSmallest = 1e-12;                                        // of a squared length
  const auto y = values.unflatten(-1, {heads_.key_values, -1, heads_.d_v});  // [B, T, G, H / G, W]
  const auto v = own.slice(-1, -heads_.value_width())
                     .unflatten(-1, {heads_.key_values, 1, heads_.d_v});  // [B, T, G, 1, W]
  const auto square = v.square().sum(-1, /*keepdim=*/true).clamp_min(kSmallest);
  return (y - (y * v).sum(-1, /*keepdim=*/true) / square * v).flatten(-3);
}

torch::Tensor HeadOptionsModule::gated(const torch::Tensor& values, const torch::Tensor& x) const {
  if (!gate_) return values;
  const auto gates = gate_->forward(x).sigmoid();  // [B, T, H] or [B, T, HW]
  if (gates.size(-1) == values.size(-1)) return values * gates;
  return (values.unflatten(-1, {heads_.count, -1}) * gates.unsqueeze(-1)).flatten(-2);
}

SelfAttention::SelfAttention(const MultiHead& options, const StackOptions& stack)
    : heads_(heads_of(options, stack.d_model)),
      causal_(stack.causal),
      qkv_(register_module(
          "qkv", Linear(stack.d_model,
                        std::vector{heads_.query_width(), heads_.key_width(), heads_.value_width()},
                        options.qkv_bias.value_or(stack.bias), Projection::qkv))),
      out_(register_module("out",
                           Linear(heads_.count * heads_.d_v, std::vector{stack.d_model},
                                  options.output_bias.value_or(stack.bias), Projection::output))),
      head_options_(*this, options, stack) {}

torch::Tensor SelfAttention::forward(const torch::Tensor& x, const torch::Tensor& padding_mask,
                                     const ops::AttentionPosition& position,
                                     const Observer* observer) {
  auto input = reads(x, nullptr, position);
  input.padding_mask = padding_mask;
  input.causal = causal_;
  input.wants_probabilities = is_watched(observer);
  const auto read = ops::attention(input);
  const auto values =
      head_options_.gated(head_options_.exclusive(observed_values(read, observer), input.query), x);
  return out_(observed_heads(values, heads_.count, observer));
}

torch::Tensor SelfAttention::step(const torch::Tensor& x, KVCache& cache,
                                  const ops::AttentionPosition& position) {
  auto input = reads(x, &cache, position);
  input.causal = true;
  const auto values = head_options_.exclusive(ops::attention(input, cache).values, input.query);
  return out_(head_options_.gated(values, x));
}

ops::AttentionInput SelfAttention::reads(const torch::Tensor& x, KVCache* cache,
                                         const ops::AttentionPosition& position) {
  const auto projected =
      head_options_.mixed_values(convolved(qkv_(x), cache), position);  // [B, T, HK + GK + GW]
  const bool scheme = position.content != nullptr;
  return {.query = scheme ? head_options_.unscaled_query_key_value(projected)
                          : head_options_.query_key_value(projected),
          .heads = heads_,
          .position = position,
          .weighting = head_options_.weighting(),
          .factor = scheme ? head_options_.factor() : ops::QueryFactor()};
}

KVCache SelfAttention::empty_cache(const torch::Tensor& like) const {
  return ops::empty_cache(like, heads_);
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
                           Linear(heads_.count * heads_.d_v, std::vector{stack.d_model},
                                  options.output_bias.value_or(stack.bias), Projection::output))),
      head_options_(*this, options, stack) {}

torch::Tensor CrossAttentionImpl::forward(const torch::Tensor& x, const StackOutput& memory,
                                          const Observer* observer) {
  auto input = reads(x, memory.padding_mask, observer);
  input.key_value = head_options_.key_value(key_value_(memory.output));
  input.position.kept_mask = memory.kept_mask;
  const auto values = head_options_.gated(observed_values(ops::attention(input), observer), x);
  return out_(observed_heads(values, heads_.count, observer));
}

KVCache CrossAttentionImpl::project(const torch::Tensor& memory) {
  return ops::cache_of(head_options_.key_value(key_value_(memory)), heads_);
}

torch::Tensor CrossAttentionImpl::step(const torch::Tensor& x, KVCache& memory,
                                       const torch::Tensor& padding_mask,
                                       const Observer* observer) {
  const auto read = ops::attention(reads(x, padding_mask, observer), memory);
  return out_(head_options_.gated(observed_values(read, observer), x));
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
