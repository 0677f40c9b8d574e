#include "models/routing.h"

#include "models/ops/permutation.h"

namespace ablate::models {
namespace {

/// 1 + the squared coefficient of variation. // [E] -> []
torch::Tensor unevenness(const torch::Tensor& x) {
  return static_cast<double>(x.size(0)) * x.square().sum() / x.sum().square();
}

/// Each position's share of a mean: 0 at padding, otherwise one over the unpadded ones. // [N]
torch::Tensor shares_of(const Routing& routing) {
  const auto& weight = routing.router.topk_weight;
  const auto mask = routing.padding_mask.defined() ? routing.padding_mask.to(weight.scalar_type())
                                                   : torch::ones_like(weight.select(1, 0));
  return mask.detach() / mask.detach().sum();
}

/// Tokens of each expert, empty slots not counted. // [N, k] -> [E]
torch::Tensor tokens_per_expert(const torch::Tensor& idx, int64_t experts) {
  return ops::bin_counts(idx.flatten(), experts + 1).slice(0, 0, experts);
}

torch::Tensor load_of(const Routing& routing, const torch::Tensor& share) {
  const auto& router = routing.router;
  if (router.selection_prob.defined())
    return unevenness((router.selection_prob * share.unsqueeze(1)).sum(0));
  const auto mean = (router.probs * share.unsqueeze(1)).sum(0);  // [E]
  const auto one_position = share.amax();
  const int64_t choices = router.load_choices == 0 ? routing.active : router.load_choices;
  const auto counts = tokens_per_expert(routing.wanted_idx.slice(1, 0, choices), routing.experts);
  const auto used = counts * one_position / static_cast<double>(choices);  // [E]
  return static_cast<double>(routing.experts) * (used * mean).sum();
}

torch::Tensor importance_of(const Routing& routing, const torch::Tensor& share) {
  const auto weight = (routing.router.topk_weight * share.unsqueeze(1)).flatten();
  const auto none = torch::zeros({routing.experts + 1}, weight.options());
  const auto summed = none.index_add(0, routing.router.topk_idx.flatten(), weight);
  return unevenness(summed.slice(0, 0, routing.experts));
}

}  // namespace

RoutingStatistics statistics_of(const Routing& routing) {
  const auto& router = routing.router;
  const auto& balance = routing.balance;
  const auto share = shares_of(routing);
  RoutingStatistics statistics{.counts = tokens_per_expert(routing.wanted_idx, routing.experts),
                               .entropy = torch::zeros({}, share.options())};
  const auto kept = routing.kept_idx.ne(routing.experts).sum().to(torch::kFloat);
  statistics.dropped = 1 - kept / statistics.counts.sum();
  if (!router.probs.defined()) return statistics;
  statistics.z = (router.logits.logsumexp(-1).square() * share).sum();
  statistics.aux_loss = balance.z * statistics.z;
  if (router.balances_load) {
    statistics.load = load_of(routing, share);
    statistics.aux_loss = statistics.aux_loss + balance.load * statistics.load;
  }
  if (balance.importance > 0)
    statistics.aux_loss = statistics.aux_loss + balance.importance * importance_of(routing, share);
  const auto probs = router.probs.detach();
  statistics.entropy = -(probs.clamp_min(1e-30).log() * probs).sum(-1).mul(share).sum();
  return statistics;
}

torch::Tensor aux_loss(const std::vector<RoutingStatistics>& mixtures) {
  torch::Tensor sum;
  for (const auto& mixture : mixtures)
    if (mixture.aux_loss.defined()) sum = sum.defined() ? sum + mixture.aux_loss : mixture.aux_loss;
  return sum.defined() ? sum / static_cast<double>(mixtures.size()) : sum;
}

}  // namespace ablate::models
