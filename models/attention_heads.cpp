#include "models/attention_heads.h"

#include <cmath>

#include "models/ops/elementwise.h"
#include "models/stack_options.h"

namespace ablate::models {
namespace {

/// Elements that forgetting adds to a query and a key: a sum, rounded, its rest, and their factors.
constexpr int64_t kForgettingWidth = 4;

}  // namespace

double query_factor_of(const MultiHead& options, const StackOptions& stack) {
  const auto d_k = static_cast<double>(heads_of(options, stack.d_model).d_k);
  const double chosen = options.scale.value ? *options.scale.value * std::sqrt(d_k) : 1;
  if (options.d_k) return chosen;
  return chosen *
         std::sqrt(static_cast<double>(base_width_of(stack.parametrization, stack.d_model)) /
                   static_cast<double>(stack.d_model));
}

ops::Heads heads_of(const MultiHead& options, int64_t d_model) {
  return {.count = options.maps(),
          .key_values = options.key_value_heads.value_or(options.heads),
          .d_k = options.d_k.value_or(d_model / options.heads),
          .d_v = options.d_v.value_or(d_model / options.heads)};
}

ops::Heads scored_heads_of(const MultiHead& options, int64_t d_model) {
  auto heads = heads_of(options, d_model);
  if (options.forgetting) heads.d_k += kForgettingWidth;
  return heads;
}

HeadOptionsModule::HeadOptionsModule(Module& owner, const MultiHead& options,
                                     const StackOptions& stack)
    : count_(options.heads),
      heads_(heads_of(options, stack.d_model)),
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
  const auto number = options.d_k ? Projection::query : Projection::head_gate;
  if (options.value_embedding) {
    const auto base = static_cast<double>(base_width_of(stack.parametrization, stack.d_model));
    value_embedding_ =
        owner.register_parameter("value_embedding", {stack.vocabulary, heads_.value_width()},
                                 Normal{1 / std::sqrt(base)}, Role::embedding);
    value_gate_ = owner.register_module(
        "value_gate", Linear(stack.d_model, std::vector{heads_.key_values}, false, number));
  }
  if (options.forgetting)
    forget_ = owner.register_module(
        "forget", Linear(stack.d_model, std::vector{heads_.key_values}, true, number));
  if (options.differential)
    lambda_ =
        owner.register_module("lambda", Linear(stack.d_model, std::vector{count_}, false, number));
  if (options.gate == OutputGate::none) return;
  const int64_t gates = count_ * (options.gate == OutputGate::head ? 1 : heads_.d_v);
  gate_ = owner.register_module(
      "gate", Linear(stack.d_model, std::vector{gates}, stack.bias,
                     options.gate == OutputGate::head ? number : Projection::query));
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

torch::Tensor HeadOptionsModule::with_first(const torch::Tensor& own, torch::Tensor& first) const {
  if (!first.defined()) first = own;
  if (!value_factors_.defined()) return (own + first) * 0.5;
  const auto factors = value_factors_.to(own.scalar_type());
  return own * factors[0] + first * factors[1];
}

torch::Tensor HeadOptionsModule::mixed_values(const torch::Tensor& projected,
                                              const torch::Tensor& x,
                                              const ops::AttentionPosition& position) const {
  if (!mixes_values_ && !value_gate_) return projected;
  const int64_t width = heads_.value_width();
  const auto parts = projected.split_with_sizes({projected.size(-1) - width, width}, -1);
  auto values = mixes_values_ ? with_first(parts[1], *position.first_values) : parts[1];
  if (value_gate_) {
    const auto of_tokens = torch::embedding(value_embedding_, position.token_ids)
                               .to(values.scalar_type())
                               .unflatten(-1, {heads_.key_values, -1});          // [B, T, G, W]
    const auto factors = (value_gate_->forward(x).sigmoid() * 2).unsqueeze(-1);  // [B, T, G, 1]
    values = values + (of_tokens * factors).flatten(-2);
  }
  return torch::cat({parts[0], values}, -1);
}

torch::Tensor HeadOptionsModule::of_heads(const torch::Tensor& read, const torch::Tensor& x) const {
  if (!lambda_) return read;
  const auto maps = read.unflatten(-1, {count_, 2, heads_.d_v}).unbind(-2);  // 2 of [B, T, H, W]
  return (maps[0] - lambda_->forward(x).sigmoid().unsqueeze(-1) * maps[1]).flatten(-2);
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

torch::Tensor HeadOptionsModule::forgetful(const torch::Tensor& projected, const torch::Tensor& x,
                                           KVCache* cache) const {
  if (!forget_) return projected;
  const auto type = projected.scalar_type();
  const int64_t groups = heads_.key_values, shared = heads_.count / groups;
  auto sums = at::log_sigmoid(ops::wide(forget_->forward(x))).cumsum(1);  // [B, T, G]
  if (cache != nullptr) {
    auto& earlier = cache->recent[2];  // [B, G]
    sums = sums + earlier.unsqueeze(1);
    earlier = sums.select(1, -1);
  }
  // Scores are divided by the root of the longer width.
  const double longer = std::sqrt(static_cast<double>(heads_.d_k + kForgettingWidth));
  const auto terms = (sums * longer).unsqueeze(-1);  // [B, T, G, 1]
  const auto rounded = terms.to(type), rest = (terms - rounded).to(type);
  const auto ones = torch::ones_like(rounded);
  const auto parts = projected.split_with_sizes(
      {heads_.query_width(), heads_.key_width(), heads_.value_width()}, -1);
  const auto queries = parts[0].unflatten(-1, {groups, shared, -1}) * (longer / root());
  const auto of_query = torch::cat({rounded, rest, ones, ones}, -1)
                            .unsqueeze(-2)
                            .expand({-1, -1, -1, shared, -1});  // [B, T, G, M / G, 4]
  const auto keys =
      torch::cat({parts[1].unflatten(-1, {groups, -1}), ones, ones, -rounded, -rest}, -1);
  return torch::cat({torch::cat({queries, of_query}, -1).flatten(2), keys.flatten(2), parts[2]},
                    -1);
}

torch::Tensor HeadOptionsModule::first_sums(const torch::Tensor& like) const {
  if (!forget_) return {};
  const auto zeros = torch::zeros_like(ops::wide(like.select(1, 0)));
  return zeros.narrow(-1, 0, heads_.key_values);
}

torch::Tensor HeadOptionsModule::gated(const torch::Tensor& values, const torch::Tensor& x) const {
  if (!gate_) return values;
  const auto gates = gate_->forward(x).sigmoid();  // [B, T, H] or [B, T, HW]
  if (gates.size(-1) == values.size(-1)) return values * gates;
  return (values.unflatten(-1, {count_, -1}) * gates.unsqueeze(-1)).flatten(-2);
}

}  // namespace ablate::models
