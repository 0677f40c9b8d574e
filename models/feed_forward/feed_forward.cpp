#include "models/feed_forward/feed_forward.h"

#include "models/ops/linear.h"
#include "models/ops/products.h"

namespace ablate::models {
namespace {

struct FeedForwardMaker {
  const StackOptions& stack;
  const CanonOptions& canon;
  std::shared_ptr<FeedForward> operator()(const DenseFeedForward& options) const {
    return std::make_shared<Dense>(options, stack, canon);
  }
  std::shared_ptr<FeedForward> operator()(const MixtureOptions& options) const {
    return std::make_shared<Mixture>(options, stack);
  }
  std::shared_ptr<FeedForward> operator()(const NoFeedForward&) const { return nullptr; }
};

/// Passes the unpadded positions to an observer's function. // [B, T, *] -> [N, *]
void show(const torch::Tensor& x, const ForwardContext& context,
          std::function<void(const torch::Tensor&)> Observer::*watcher) {
  if (context.observer == nullptr || !(context.observer->*watcher)) return;
  const auto flat = x.flatten(0, 1);
  const auto& mask = context.padding_mask;
  (context.observer->*watcher)(
      mask.defined() ? flat.index_select(0, mask.flatten().nonzero().squeeze(1)) : flat);
}

}  // namespace

KVCache FeedForward::empty_cache(const torch::Tensor&) const { return {}; }

std::shared_ptr<FeedForward> make_feed_forward(const LayerOptions& layer,
                                               const StackOptions& stack) {
  return std::visit(FeedForwardMaker{stack, layer.canon}, feed_forward_of(layer.feed_forward));
}

Dense::Dense(const DenseFeedForward& options, const StackOptions& stack, const CanonOptions& canon)
    : activation_(options.activation),
      gated_(options.gated),
      dropout_(options.dropout),
      up_(register_module(
          "up", Linear(stack.d_model, std::vector<int64_t>(options.gated ? 2 : 1, options.d_hidden),
                       options.bias.value_or(stack.bias)))),
      down_(
          register_module("down", Linear(options.d_hidden, stack.d_model,
                                         options.bias.value_or(stack.bias), Projection::output))) {
  if (canon.has(CanonPlace::hidden))
    canon_ = register_module("canon", ShortConvolution(canon, *options.hidden_channels(), "canon"));
}

KVCache Dense::empty_cache(const torch::Tensor& like) const {
  KVCache cache;
  begin(canon_, cache, like);
  return cache;
}

RoutedOutput Dense::forward(const torch::Tensor& x, const ForwardContext& context, KVCache* cache) {
  show(x, context, &Observer::feed_forward_input);
  const bool plain = !gated_ && !up_->is_adapted() && !canon_;
  const auto whole = activation_ == Activation::relu && plain
                         ? ops::linear_relu(x, up_->weight, up_->bias)
                         : ops::hidden_layer(convolved(canon_, up_(x), cache), activation_, gated_);
  const auto hidden = ops::dropout(whole, context.dropout_at(site(), dropout_));
  show(hidden, context, &Observer::hidden_layer);
  return {.output = down_(hidden), .routing = {}};
}

namespace {

/// A tolerance below any share of a position and above the rounding of a product.
constexpr double kRounding = 1e-9;

/// `parts` stacked matrices of [rows, columns] for every expert, each drawn separately.
XavierUniform expert_matrices(int64_t experts, int64_t parts, int64_t rows) {
  return {.rows = std::vector<int64_t>(static_cast<size_t>(experts * parts), rows)};
}

}  // namespace

Mixture::Mixture(const MixtureOptions& options, const StackOptions& stack)
    : options_(options),
      causal_(stack.causal),
      router_(register_module("router", make_router(options, stack.d_model))),
      experts_{.activation = options.activation, .gated = options.gated} {
  const int64_t parts = options.gated ? 2 : 1;
  experts_.up =
      register_parameter("up", {options.experts, parts * options.d_hidden, stack.d_model},
                         expert_matrices(options.experts, parts, options.d_hidden), Role::matrix);
  auto down = expert_matrices(options.experts, 1, options.d_hidden);
  down.transposed = down.adds_to_residual = true;
  experts_.down = register_parameter("down", {options.experts, options.d_hidden, stack.d_model},
                                     down, Role::matrix);
  if (stack.bias) {
    experts_.up_bias = register_parameter("up_bias", {options.experts, parts * options.d_hidden},
                                          Constant{0}, Role::vector);
    experts_.down_bias = register_parameter("down_bias", {options.experts, stack.d_model},
                                            Constant{0}, Role::vector);
  }
  if (options.shared_experts == 0) return;
  const DenseFeedForward shared{.d_hidden = options.shared_experts * options.d_hidden,
                                .activation = options.activation,
                                .gated = options.gated,
                                .dropout = options.dropout};
  shared_ = register_module("shared", std::make_shared<Dense>(shared, stack));
}

torch::Tensor Mixture::apply_capacity(const torch::Tensor& experts, const torch::Tensor& weights,
                                      const torch::Tensor& company, double share) const {
  const int64_t slots = experts.size(1);
  // First choices before second ones, with a row for each group of positions.
  const auto rows = [&](const torch::Tensor& x) {  // [N, k] -> [G, k M]
    return x.t()
        .reshape_as(company.unsqueeze(0).expand({slots, -1, -1}))
        .transpose(0, 1)
        .flatten(1);
  };
  const auto most =
      (company.sum(-1, /*keepdim=*/true).to(torch::kDouble) * share - kRounding).ceil();  // [G, 1]
  const auto expert = rows(experts);
  auto order = torch::ones_like(expert).cumsum(-1) - 1;
  if (std::get<LimitedCapacity>(options_.capacity).keep == Keep::likeliest)
    order = rows(weights.detach()).argsort(/*stable=*/true, -1, /*descending=*/true);
  order = order.gather(-1, expert.gather(-1, order).argsort(/*stable=*/true, -1, false));
  const auto sorted = expert.gather(-1, order);
  const auto rank = torch::ones_like(sorted).cumsum(-1) - 1 - torch::searchsorted(sorted, sorted);
  return sorted.masked_fill(rank.ge(most), options_.experts)
      .gather(-1, order.argsort(int64_t{-1}, false))
      .unflatten(1, {slots, -1})
      .transpose(1, 2)
      .flatten(0, 1);
}

torch::Tensor Mixture::apply_capacity_so_far(const torch::Tensor& experts, const torch::Tensor& x,
                                             torch::Tensor& wanted) const {
  const int64_t slots = experts.size(1);
  const auto own = experts.reshape_as(x.narrow(-1, 0, 1).expand({-1, -1, slots}));  // [B, T, k]
  const auto names = torch::arange(options_.experts, own.options());
  const auto chosen = own.unsqueeze(-1).eq(names).sum(2);               // [B, T, E]
  const auto before = wanted.unsqueeze(1) + chosen.cumsum(1) - chosen;  // [B, T, E]
  const auto number = before.sum(-1).to(torch::kDouble) / static_cast<double>(slots) + 1;  // [B, T]
  const auto most = (number * *limit_of({}) - kRounding).ceil().unsqueeze(-1);
  const auto full = before.gather(-1, own.clamp_max(options_.experts - 1)).ge(most);  // [B, T, k]
  wanted = wanted + chosen.sum(1);
  return own.masked_fill(full, options_.experts).flatten(0, 1);
}

std::optional<double> Mixture::limit_of(const ForwardContext& context) const {
  const auto* limited = std::get_if<LimitedCapacity>(&options_.capacity);
  if (limited == nullptr || (!context.training && !limited->evaluation)) return {};
  return (context.training ? limited->factor : *limited->evaluation) *
         static_cast<double>(options_.active) / static_cast<double>(options_.experts);
}

KVCache Mixture::empty_cache(const torch::Tensor& like) const {
  if (!limits_steps()) return {};
  const auto none = torch::zeros_like(like.select(1, 0).narrow(-1, 0, 1), torch::kLong);  // [B, 1]
  return {.blocks = {{none.expand({-1, options_.experts}), {}}}};
}

torch::Tensor Mixture::padding_mask_of(const torch::Tensor& x,
                                       const ForwardContext& context) const {
  if (context.padding_mask.defined()) return context.padding_mask;
  // Most decoding steps have no padding, and every operator costs time there.
  const bool needed =
      limit_of(context) ||
      std::visit([]<class Held>(const Held&) { return Held::needs_padding_mask; }, options_.router);
  return needed ? torch::ones_like(x.select(-1, 0), torch::kBool) : torch::Tensor();
}

RoutedOutput Mixture::forward(const torch::Tensor& x, const ForwardContext& context,
                              KVCache* cache) {
  const auto flat = x.flatten(0, 1);                 // [N, D]
  const auto padding = padding_mask_of(x, context);  // [B, T]
  const auto mask = padding.defined() ? padding.flatten() : padding;
  const auto company = padding.defined() && context.training ? mask.unsqueeze(0) : padding;
  const auto chosen = router_->forward(
      {.x = flat,
       .company = company,
       .token_ids = context.token_ids.defined() ? context.token_ids.flatten() : context.token_ids,
       .up = experts_.up,
       .up_bias = experts_.up_bias},
      context);
  const auto wanted =
      context.padding_mask.defined()
          ? chosen.topk_idx.masked_fill(mask.logical_not().unsqueeze(1), options_.experts)
          : chosen.topk_idx;  // [N, k]
  auto kept = wanted;
  if (const auto share = limit_of(context); share && causal_ && !context.training) {
    auto own = cache == nullptr ? empty_cache(x) : KVCache();
    auto& seen = cache == nullptr ? own : *cache;
    auto counts = seen.concatenate()[0];
    kept = apply_capacity_so_far(wanted, x, counts);
    seen.blocks = {{counts, {}}};
  } else if (share) {
    kept = apply_capacity(wanted, chosen.topk_weight, company, *share);
  }
  if (context.observer != nullptr && context.observer->expert_hidden_layers)
    context.observer->expert_hidden_layers(
        ops::expert_hidden_layers(flat, experts_, {.expert = kept, .weight = chosen.topk_weight}));
  // If experts choose positions, every position comes with all of them.
  const ops::PartOfProducts active(options_.active, kept.size(1));
  const auto y =
      ops::expert_feed_forward(flat, experts_, {.expert = kept, .weight = chosen.topk_weight},
                               context.dropout_at(site(), options_.dropout))
          .view_as(x);
  return {.output = shared_ ? y + shared_->forward(x, context).output : y,
          .routing = Routing{.router = chosen,
                             .padding_mask = mask,
                             .wanted_idx = wanted,
                             .kept_idx = kept,
                             .experts = options_.experts,
                             .active = options_.active,
                             .balance = options_.balance}};
}

}  // namespace ablate::models
