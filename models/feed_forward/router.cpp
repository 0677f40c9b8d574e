#include "models/feed_forward/router.h"

#include <cmath>

#include "models/generator.h"
#include "models/ops/top_k.h"

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

namespace {

/// The router with these options, of which each alternative has its own.
template <class Options>
class RouterOf;

/// Truncated normal of variance 0.1 / fan-in before truncation (Fedus et al. 2021, section 2.4).
TruncatedNormal small_normal(int64_t width) {
  return {.deviation = std::sqrt(0.1 / static_cast<double>(width))};
}

/// The sum is zero only if all weights, such as sigmoids, are too small for a float.
torch::Tensor divided_by_sum(const torch::Tensor& weights) {
  return weights / weights.sum(-1, /*keepdim=*/true).clamp_min(1e-20);
}

/// Scores as products with one vector per expert. // [N, D] -> [N, E]
class ScoringRouter : public Router {
 public:
  ScoringRouter(const MixtureOptions& options, int64_t d_model, const Initializer& initializer)
      : active_(options.active),
        weight_(register_parameter("weight", {options.experts, d_model}, initializer, Role::gate)) {
  }

 protected:
  /// This router's noise in one pass, by `draw(tensor, generator)`.
  template <class Draw>
  torch::Tensor noise_like(const torch::Tensor& x, const ForwardContext& context, Draw draw) const {
    return noise_tensor({x.sizes().vec(), x.options()}, context.noise_at(site()),
                        [draw](torch::Tensor& drawn, uint64_t seed) {
                          draw(drawn, seeded_generator(seed, drawn.device()));
                        });
  }
  torch::Tensor wide(const torch::Tensor& x) const { return x.to(weight_.scalar_type()); }
  torch::Tensor scores(const torch::Tensor& x) const { return torch::linear(wide(x), weight_); }

  int64_t active_;
  torch::Tensor weight_;  // [E, D]
};

class Softmax : public ScoringRouter {
 public:
  Softmax(const MixtureOptions& options, int64_t d_model, bool renormalize, double jitter)
      : ScoringRouter(options, d_model, small_normal(d_model)),
        renormalize_(renormalize),
        jitter_(jitter) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext& context) override {
    const auto h = scores(jittered(wide(input.x), context));
    const auto [p, best] = ops::softmax_top_k(h, active_);
    return {.topk_idx = best.indices,
            .topk_weight = renormalize_ ? divided_by_sum(best.values) : best.values,
            .probs = p,
            .logits = h};
  }

 private:
  torch::Tensor jittered(const torch::Tensor& x, const ForwardContext& context) const {
    if (jitter_ == 0 || !context.training) return x;
    return x * noise_like(x, context, [jitter = jitter_](auto& drawn, const auto& generator) {
             drawn.uniform_(1 - jitter, 1 + jitter, generator);
           });
  }

  bool renormalize_;
  double jitter_;
};

template <>
class RouterOf<SoftmaxRouter> : public Softmax {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const SoftmaxRouter& router)
      : Softmax(options, d_model, router.renormalize, router.jitter) {}
};

template <>
class RouterOf<SwitchRouter> : public Softmax {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const SwitchRouter& router)
      : Softmax(options, d_model, /*renormalize=*/false, router.jitter) {}
};

template <>
class RouterOf<NoisyRouter> : public ScoringRouter {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const NoisyRouter&)
      : ScoringRouter(options, d_model, Constant{0}),
        noise_(register_parameter("noise", {options.experts, d_model}, Constant{0}, Role::gate)) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext& context) override {
    const auto clean = scores(input.x);
    if (!context.training) return chosen(clean);
    const auto normal = noise_like(clean, context, [](auto& drawn, const auto& generator) {
      drawn.normal_(0.0, 1.0, generator);
    });
    const auto size = torch::softplus(torch::linear(wide(input.x), noise_)) + 1e-2;
    const auto noisy = clean + normal * size;
    auto choice = chosen(noisy);
    if (active_ < clean.size(1)) choice.selection_prob = selection_prob(clean, noisy, size);
    return choice;
  }

 private:
  RouterOutput chosen(const torch::Tensor& h) const {
    const auto [best, expert] = h.topk(active_, -1);
    return {
        .topk_idx = expert, .topk_weight = best.softmax(-1), .probs = h.softmax(-1), .logits = h};
  }
  /// P(x, i), equation 9: each expert against the last chosen of the others. // [N, E]
  torch::Tensor selection_prob(const torch::Tensor& clean, const torch::Tensor& noisy,
                               const torch::Tensor& size) const {
    const auto best = std::get<0>(noisy.topk(active_ + 1, -1));
    const auto last = best.slice(1, active_ - 1, active_), next = best.slice(1, active_);  // [N, 1]
    const auto bar = torch::where(noisy > next, next, last);
    return 0.5 * (1 + torch::erf((clean - bar) / (size * std::sqrt(2.0))));
  }

  torch::Tensor noise_;  // [E, D]
};

template <>
class RouterOf<GshardRouter> : public ScoringRouter {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const GshardRouter&)
      : ScoringRouter(options, d_model, small_normal(d_model)) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext& context) override {
    const auto h = scores(input.x);
    const auto p = h.softmax(-1);
    auto [best, expert] = p.topk(2, -1);
    const auto weight = divided_by_sum(best);
    RouterOutput choice{
        .topk_idx = expert, .topk_weight = weight, .probs = p, .logits = h, .load_choices = 1};
    if (!context.training) return choice;
    const auto second = weight.select(1, 1);  // [N]
    const auto uniform = noise_like(second, context, [](auto& drawn, const auto& generator) {
      drawn.uniform_(0.0, 1.0, generator);
    });
    const auto unused = (2 * second).le(uniform);  // [N]
    const auto empty = torch::stack({torch::zeros_like(unused), unused}, 1);
    choice.topk_idx = expert.masked_fill(empty, p.size(1));
    return choice;
  }
};

template <>
class RouterOf<SigmoidRouter> : public ScoringRouter {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const SigmoidRouter& router)
      : ScoringRouter(options, d_model, small_normal(d_model)),
        options_(router),
        bias_(register_buffer("bias", torch::zeros({options.experts}))) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext&) override {
    const auto h = scores(input.x);
    const auto s = h.sigmoid();
    const auto expert = std::get<1>((s.detach() + bias_).topk(active_, -1));
    const auto weight = s.gather(-1, expert);
    return {.topk_idx = expert,
            .topk_weight = options_.renormalize ? divided_by_sum(weight) : weight,
            .probs = divided_by_sum(s),
            .logits = h};
  }
  void update_selection_bias(const torch::Tensor& counts) override {
    torch::NoGradGuard no_grad;
    const auto load = counts.to(bias_.scalar_type());
    bias_.add_((load.mean() - load).sign(), options_.bias_step);
  }

 private:
  SigmoidRouter options_;
  torch::Tensor bias_;  // [E]
};

template <>
class RouterOf<ExpertChoiceRouter> : public ScoringRouter {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const ExpertChoiceRouter&)
      : ScoringRouter(options, d_model, small_normal(d_model)) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext&) override {
    const auto h = scores(input.x);
    const auto p = h.softmax(-1);
    const int64_t experts = p.size(1);
    const auto there = input.company.unsqueeze(0).expand({experts, -1, -1});  // [E, G, M]
    const auto open = p.detach().t().reshape_as(there).masked_fill(there.logical_not(), -1.0);
    // A rank instead of a top-k, whose length a trace would make constant.
    const auto rank =
        open.argsort(/*stable=*/true, -1, /*descending=*/true).argsort(int64_t{-1}, false);
    const double share = static_cast<double>(active_) / static_cast<double>(experts);
    const auto room =
        (input.company.sum(-1, /*keepdim=*/true).to(torch::kDouble) * share - 1e-9).ceil();
    const auto full = rank.ge(room).flatten(1).t();                         // [N, E]
    const auto names = torch::ones_like(full, torch::kLong).cumsum(1) - 1;  // 0 ... E - 1
    return {.topk_idx = names.masked_fill(full, experts),
            .topk_weight = p,
            .probs = p,
            .logits = h,
            .balances_load = false};
  }
};

template <>
class RouterOf<HashRouter> : public Router {
 public:
  RouterOf(const MixtureOptions& options, int64_t, const HashRouter&)
      : active_(options.active), experts_(options.experts) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext&) override {
    // Each token orders the experts by a hash of both. Factors are below 2^31, so that no product
    // overflows.
    constexpr int64_t kPrime = 2'147'483'647;
    const auto expert_id = torch::arange(experts_, input.token_ids.options()) + 1;
    auto hash = input.token_ids.remainder(kPrime).unsqueeze(1) * 1'000'003 + expert_id * 7919;
    hash = (hash.remainder(kPrime) * 48'271).remainder(kPrime);
    hash = hash.bitwise_xor(hash.bitwise_right_shift(15)).remainder(kPrime);
    hash = (hash * 69'621).remainder(kPrime);
    hash = hash.bitwise_xor(hash.bitwise_right_shift(13)).remainder(kPrime);
    const auto expert = std::get<1>((hash * 39'373).remainder(kPrime).topk(active_, -1));  // [N, k]
    return {expert, torch::full_like(expert, 1.0 / static_cast<double>(active_), torch::kFloat)};
  }

 private:
  int64_t active_, experts_;
};

/// The experts with the highest scores, all with weight 1 and without a gradient.
RouterOutput unweighted_top_k(const torch::Tensor& scores, int64_t active) {
  const auto expert = std::get<1>(scores.topk(active, -1));
  return {expert, torch::ones_like(expert, torch::kFloat)};
}

torch::Tensor direction(const torch::Tensor& x) {
  return x / x.norm(2, -1, /*keepdim=*/true).clamp_min(1e-12);
}

template <>
class RouterOf<OracleRouter> : public Router {
 public:
  RouterOf(const MixtureOptions& options, int64_t, const OracleRouter&) : active_(options.active) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext&) override {
    return unweighted_top_k(expert_activation(input.x, input.up, input.up_bias), active_);
  }

 private:
  int64_t active_;
};

template <>
class RouterOf<SimilarityRouter> : public Router {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const SimilarityRouter&)
      : active_(options.active),
        centres_(register_buffer("centres", {options.experts, d_model}, Normal{1})) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext&) override {
    return unweighted_top_k(centre_similarity(input.x.to(centres_.scalar_type()), centres_),
                            active_);
  }

 private:
  int64_t active_;
  torch::Tensor centres_;  // [E, D]
};

template <>
class RouterOf<NetworkRouter> : public Router {
 public:
  RouterOf(const MixtureOptions& options, int64_t d_model, const NetworkRouter&)
      : active_(options.active),
        first_(register_buffer("first", {options.experts, d_model}, Normal{1})),
        second_(register_buffer("second", torch::eye(options.experts))) {}

  RouterOutput forward(const RouterInput& input, const ForwardContext&) override {
    return unweighted_top_k(predicted_activation(input.x.to(first_.scalar_type()), first_, second_),
                            active_);
  }

 private:
  int64_t active_;
  torch::Tensor first_, second_;  // [E, D], [E, E]
};

}  // namespace

torch::Tensor expert_activation(const torch::Tensor& x, const torch::Tensor& up,
                                const torch::Tensor& up_bias) {
  const auto type = x.scalar_type();
  const auto hidden = torch::linear(x, up.to(type).flatten(0, 1),
                                    up_bias.defined() ? up_bias.to(type).flatten() : up_bias);
  return hidden.relu().unflatten(-1, {up.size(0), -1}).sum(-1);
}

torch::Tensor centre_similarity(const torch::Tensor& x, const torch::Tensor& centres) {
  return 2 * torch::linear(direction(x), centres) - centres.square().sum(-1);
}

torch::Tensor predicted_activation(const torch::Tensor& x, const torch::Tensor& first,
                                   const torch::Tensor& second) {
  return torch::linear(torch::linear(direction(x), first).tanh(), second);
}

void Router::update_selection_bias(const torch::Tensor&) {}

std::shared_ptr<Router> make_router(const MixtureOptions& options, int64_t d_model) {
  return std::visit(
      [&]<class Held>(const Held& held) -> std::shared_ptr<Router> {
        return std::make_shared<RouterOf<Held>>(options, d_model, held);
      },
      options.router);
}

}  // namespace ablate::models
