#include "models/mixture.h"

#include "models/ops/permutation.h"

namespace ablate::models {
namespace {

/// Below any share of a position, above the rounding of a product.
constexpr double kRounding = 1e-9;

/// `parts` matrices of [rows, columns] below each other for every expert, each drawn by itself.
XavierUniform expert_matrices(int64_t experts, int64_t parts, int64_t rows) {
  return {.rows = std::vector<int64_t>(static_cast<size_t>(experts * parts), rows)};
}

}  // namespace

Mixture::Mixture(const MixtureOptions& options, const StackOptions& stack)
    : options_(options),
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
                                .gated = options.gated};
  shared_ = register_module("shared", std::make_shared<Dense>(shared, stack));
}

torch::Tensor Mixture::apply_capacity(const torch::Tensor& experts, const torch::Tensor& weights,
                                      const torch::Tensor& padding_mask, bool training) const {
  const auto* limited = std::get_if<LimitedCapacity>(&options_.capacity);
  if (limited == nullptr) return experts;
  const auto expert = experts.t().flatten(), weight = weights.t().flatten();  // [k N]
  const double factor = training ? limited->factor : limited->evaluation;
  const double share =
      factor * static_cast<double>(options_.active) / static_cast<double>(options_.experts);
  const auto room = (padding_mask.sum().to(torch::kDouble) * share - kRounding).ceil();
  auto order = ops::indices_of(expert);
  if (limited->keep == Keep::likeliest)
    order = weight.detach().argsort(/*stable=*/true, 0, /*descending=*/true);
  order = order.index_select(0, expert.index_select(0, order).argsort(/*stable=*/true, 0, false));
  const auto sorted = expert.index_select(0, order);
  const auto counts = ops::bin_counts(sorted, options_.experts + 1);
  const auto rank = ops::indices_of(sorted) - (counts.cumsum(0) - counts).index_select(0, sorted);
  return sorted.masked_fill(rank.ge(room), options_.experts)
      .index_select(0, ops::inverse_permutation(order))
      .unflatten(0, {experts.size(1), -1})
      .t();
}

torch::Tensor Mixture::padding_mask_of(const torch::Tensor& flat,
                                       const ForwardContext& context) const {
  if (context.padding_mask.defined()) return context.padding_mask.flatten();
  // Most decoding steps pad nothing, and every operator counts there.
  const bool needed =
      std::holds_alternative<LimitedCapacity>(options_.capacity) ||
      std::visit([]<class Held>(const Held&) { return Held::needs_padding_mask; }, options_.router);
  return needed ? torch::ones_like(flat.select(1, 0), torch::kBool) : torch::Tensor();
}

RoutedOutput Mixture::forward(const torch::Tensor& x, const ForwardContext& context) {
  const auto flat = x.flatten(0, 1);  // [N, D]
  const auto mask = padding_mask_of(flat, context);
  const auto chosen = router_->forward(
      {.x = flat,
       .padding_mask = mask,
       .token_ids = context.token_ids.defined() ? context.token_ids.flatten() : context.token_ids,
       .up = experts_.up,
       .up_bias = experts_.up_bias},
      context);
  const auto wanted =
      context.padding_mask.defined()
          ? chosen.topk_idx.masked_fill(mask.logical_not().unsqueeze(1), options_.experts)
          : chosen.topk_idx;  // [N, k]
  const auto kept = apply_capacity(wanted, chosen.topk_weight, mask, context.training);
  if (context.observer != nullptr && context.observer->expert_hidden_layers)
    context.observer->expert_hidden_layers(
        ops::expert_hidden_layers(flat, experts_, {.expert = kept, .weight = chosen.topk_weight}));
  const auto y =
      ops::expert_feed_forward(flat, experts_, {.expert = kept, .weight = chosen.topk_weight})
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
