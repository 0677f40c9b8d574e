#include "models/mixture.h"

#include "models/ops/permutation.h"

namespace ablate::models {
namespace {

/// Below any share of a position, above the rounding of a product.
constexpr double kRounding = 1e-9;

torch::Tensor matrices(int64_t experts, int64_t parts, int64_t rows, int64_t width) {
  auto all = torch::empty({experts * parts, rows, width});
  torch::NoGradGuard no_grad;
  for (auto& matrix : all.unbind(0)) torch::nn::init::xavier_uniform_(matrix);
  return all.view({experts, parts * rows, width});
}

/// 1 + the squared coefficient of variation. // [E] -> []
torch::Tensor evenness(const torch::Tensor& x) {
  return static_cast<double>(x.size(0)) * x.square().sum() / x.sum().square();
}

/// counts: of all choices, kept: of those that found room. // [E], [E]
Routing routing_of(const Choice& choice, const torch::Tensor& counts, const torch::Tensor& kept,
                   const torch::Tensor& real, const MixtureOptions& options) {
  Routing routing;
  const auto share = real.to(choice.weight.scalar_type()) / real.sum();  // [N]
  routing.counts = counts.detach();
  routing.dropped = 1 - kept.sum().to(torch::kFloat) / counts.sum();
  routing.entropy = torch::zeros({}, share.options());
  if (!choice.probability.defined()) return routing;
  const auto p = (choice.probability * share.unsqueeze(1)).sum(0);  // mean [E]
  const auto experts = static_cast<double>(p.size(0));
  const auto used = counts.to(p.scalar_type()) / (real.sum() * static_cast<double>(options.active));
  routing.z = (choice.scores.logsumexp(-1).square() * share).sum();
  routing.penalty = options.balance.z * routing.z;
  if (choice.balances) {
    routing.load = choice.chance.defined() ? evenness((choice.chance * share.unsqueeze(1)).sum(0))
                                           : experts * (used.detach() * p).sum();
    routing.penalty = routing.penalty + options.balance.load * routing.load;
  }
  if (options.balance.importance > 0) {
    const auto weight = (choice.weight * share.unsqueeze(1)).flatten();
    const auto none = torch::zeros({options.experts + 1}, weight.options());
    routing.penalty =
        routing.penalty +
        options.balance.importance *
            evenness(
                none.index_add(0, choice.expert.flatten(), weight).slice(0, 0, options.experts));
  }
  const auto all = choice.probability.detach();
  routing.entropy = -(all.clamp_min(1e-30).log() * all).sum(-1).mul(share).sum();
  return routing;
}

}  // namespace

Mixture::Mixture(const MixtureOptions& options, const StackOptions& stack)
    : options_(options),
      router_(register_module("router", make_router(options, stack.d_model))),
      experts_{.activation = options.activation, .gated = options.gated} {
  experts_.up = register_parameter(
      "up", matrices(options.experts, options.gated ? 2 : 1, options.d_hidden, stack.d_model));
  experts_.down =
      register_parameter("down", matrices(options.experts, 1, options.d_hidden, stack.d_model));
  if (stack.bias) {
    experts_.up_bias =
        register_parameter("up_bias", torch::zeros({options.experts, experts_.up.size(1)}));
    experts_.down_bias =
        register_parameter("down_bias", torch::zeros({options.experts, stack.d_model}));
  }
  if (options.shared_experts == 0) return;
  const DenseFeedForward shared{.d_hidden = options.shared_experts * options.d_hidden,
                                .activation = options.activation,
                                .gated = options.gated};
  shared_ = register_module("shared", std::make_shared<Dense>(shared, stack));
}

torch::Tensor Mixture::with_room(const torch::Tensor& experts, const torch::Tensor& weights,
                                 const torch::Tensor& real, bool trains) const {
  const auto* limited = std::get_if<Limited>(&options_.capacity);
  if (limited == nullptr) return experts;
  const auto expert = experts.t().flatten(), weight = weights.t().flatten();  // [k N]
  const double factor = trains ? limited->factor : limited->evaluation;
  const double share =
      factor * static_cast<double>(options_.active) / static_cast<double>(options_.experts);
  const auto room = (real.sum().to(torch::kDouble) * share - kRounding).ceil();
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

torch::Tensor Mixture::forward(const torch::Tensor& x, const Pass& pass) {
  const auto flat = x.flatten(0, 1);  // [N, D]
  // Most decoding steps pad nothing, and every operator counts there.
  const bool counts_real = pass.real.defined() || pass.recorded != nullptr || needs_real();
  const auto real = pass.real.defined() ? pass.real.flatten()
                    : counts_real       ? torch::ones_like(flat.select(1, 0), torch::kBool)
                                        : torch::Tensor();
  const auto ids = pass.ids.defined() ? pass.ids.flatten() : pass.ids;
  const auto choice =
      router_->choose({flat, real, ids, pass.dropout, experts_.up, experts_.up_bias});
  const auto wanted = pass.real.defined() ? choice.expert.masked_fill(
                                                real.logical_not().unsqueeze(1), options_.experts)
                                          : choice.expert;  // [N, k]
  const auto expert = with_room(wanted, choice.weight, real, pass.dropout.trains());
  const auto y =
      ops::expert_feed_forward(flat, experts_, {.expert = expert, .weight = choice.weight})
          .view_as(x);
  if (pass.recorded != nullptr) {
    const auto counts = [&](const torch::Tensor& experts) {
      return ops::bin_counts(experts.flatten(), options_.experts + 1).slice(0, 0, options_.experts);
    };
    pass.recorded->routings.push_back(
        routing_of(choice, counts(wanted), counts(expert), real, options_));
  }
  return shared_ ? y + shared_->forward(x, pass) : y;
}

bool Mixture::needs_real() const {
  return std::holds_alternative<Limited>(options_.capacity) ||
         std::holds_alternative<ExpertChoiceRouter>(options_.router);
}

}  // namespace ablate::models
