#include "models/router.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "models/ops/top_k.h"

namespace ablate::models {
namespace {

/// Normal numbers without those beyond two standard deviations, of variance 0.1 / fan-in before
/// the cut (Fedus et al. 2021, section 2.4).
torch::Tensor small_normal(int64_t rows, int64_t width) {
  const double deviation = std::sqrt(0.1 / static_cast<double>(width));
  const double within = std::erf(std::sqrt(2.0));
  const auto uniform = torch::rand({rows, width}) * (2 * within) - within;
  return uniform.erfinv() * (std::sqrt(2.0) * deviation);
}

/// Random numbers from the pass's own stream, so that a pass is a function of its seed.
at::Generator generator(Dropout& pass) { return at::detail::createCPUGenerator(pass.next().seed); }

torch::Tensor jittered(const torch::Tensor& x, double jitter, Dropout& pass) {
  if (jitter == 0 || !pass.trains()) return x;
  const auto noise = torch::rand(x.sizes(), generator(pass), torch::TensorOptions(torch::kFloat));
  return x * (1 - jitter + 2 * jitter * noise.to(x.device()));
}

torch::Tensor divided_by_sum(const torch::Tensor& weights) {
  return weights / weights.sum(-1, /*keepdim=*/true);
}

/// Scores as products with one vector per expert. // [N, D] -> [N, E]
class ScoringRouter : public Router {
 public:
  ScoringRouter(const MixtureOptions& options, const torch::Tensor& start)
      : active_(options.active), weight_(register_parameter("weight", start)) {}

 protected:
  torch::Tensor wide(const torch::Tensor& x) const { return x.to(weight_.scalar_type()); }
  torch::Tensor scores(const torch::Tensor& x) const { return torch::linear(wide(x), weight_); }

  int64_t active_;
  torch::Tensor weight_;  // [E, D]
};

class Softmax : public ScoringRouter {
 public:
  Softmax(const MixtureOptions& options, int64_t d_model, bool renormalize, double jitter)
      : ScoringRouter(options, small_normal(options.experts, d_model)),
        renormalize_(renormalize),
        jitter_(jitter) {}

  Choice choose(const RouterInput& input) override {
    const auto h = scores(jittered(wide(input.x), jitter_, input.pass));
    const auto [p, best] = ops::softmax_top_k(h, active_);
    return {best.indices, renormalize_ ? divided_by_sum(best.values) : best.values, p, h, {}};
  }

 private:
  bool renormalize_;
  double jitter_;
};

class Noisy : public ScoringRouter {
 public:
  Noisy(const MixtureOptions& options, int64_t d_model)
      : ScoringRouter(options, torch::zeros({options.experts, d_model})),
        noise_(register_parameter("noise", torch::zeros({options.experts, d_model}))) {}

  Choice choose(const RouterInput& input) override {
    const auto clean = scores(input.x);
    if (!input.pass.trains()) return chosen(clean);
    const auto normal =
        torch::randn(clean.sizes(), generator(input.pass), torch::TensorOptions(torch::kFloat));
    const auto size = torch::softplus(torch::linear(wide(input.x), noise_)) + 1e-2;
    const auto noisy = clean + normal.to(clean.device()) * size;
    auto choice = chosen(noisy);
    if (active_ < clean.size(1)) choice.chance = chance(clean, noisy, size);
    return choice;
  }

 private:
  Choice chosen(const torch::Tensor& h) const {
    const auto [best, expert] = h.topk(active_, -1);
    return {expert, best.softmax(-1), h.softmax(-1), h, {}};
  }
  /// P(x, i), equation 9: each expert against the last chosen of the others. // [N, E]
  torch::Tensor chance(const torch::Tensor& clean, const torch::Tensor& noisy,
                       const torch::Tensor& size) const {
    const auto best = std::get<0>(noisy.topk(active_ + 1, -1));
    const auto last = best.slice(1, active_ - 1, active_), next = best.slice(1, active_);  // [N, 1]
    const auto bar = torch::where(noisy > next, next, last);
    return 0.5 * (1 + torch::erf((clean - bar) / (size * std::sqrt(2.0))));
  }

  torch::Tensor noise_;  // [E, D]
};

class Gshard : public ScoringRouter {
 public:
  Gshard(const MixtureOptions& options, int64_t d_model)
      : ScoringRouter(options, small_normal(options.experts, d_model)) {}

  Choice choose(const RouterInput& input) override {
    const auto h = scores(input.x);
    const auto p = h.softmax(-1);
    auto [best, expert] = p.topk(2, -1);
    const auto weight = divided_by_sum(best);
    if (!input.pass.trains()) return {expert, weight, p, h, {}};
    const auto uniform =
        torch::rand({weight.size(0)}, generator(input.pass), torch::TensorOptions(torch::kFloat));
    const auto unused = (2 * weight.select(1, 1)).le(uniform.to(weight.device()));  // [N]
    const auto empty = torch::stack({torch::zeros_like(unused), unused}, 1);
    return {expert.masked_fill(empty, p.size(1)), weight, p, h, {}};
  }
};

class Sigmoid : public ScoringRouter {
 public:
  Sigmoid(const MixtureOptions& options, int64_t d_model, const SigmoidRouter& router)
      : ScoringRouter(options, small_normal(options.experts, d_model)),
        options_(router),
        bias_(register_buffer("bias", torch::zeros({options.experts}))) {}

  Choice choose(const RouterInput& input) override {
    const auto h = scores(input.x);
    const auto s = h.sigmoid();
    const auto expert = std::get<1>((s.detach() + bias_).topk(active_, -1));
    const auto weight = s.gather(-1, expert);
    return {
        expert, options_.renormalize ? divided_by_sum(weight) : weight, divided_by_sum(s), h, {}};
  }
  void learn(const torch::Tensor& counts) override {
    torch::NoGradGuard no_grad;
    const auto load = counts.to(bias_.scalar_type());
    bias_.add_((load.mean() - load).sign(), options_.bias_step);
  }

 private:
  SigmoidRouter options_;
  torch::Tensor bias_;  // [E]
};

class ExpertChoice : public ScoringRouter {
 public:
  ExpertChoice(const MixtureOptions& options, int64_t d_model)
      : ScoringRouter(options, small_normal(options.experts, d_model)) {}

  Choice choose(const RouterInput& input) override {
    const auto h = scores(input.x);
    const auto p = h.softmax(-1);
    const int64_t experts = p.size(1);
    // A rank instead of a top-k, whose length a trace would bake.
    const auto open = p.detach().masked_fill(input.real.logical_not().unsqueeze(1), -1.0);
    const auto rank =
        open.argsort(/*stable=*/true, 0, /*descending=*/true).argsort(int64_t{0}, false);  // [N, E]
    const double share = static_cast<double>(active_) / static_cast<double>(experts);
    const auto room = (input.real.sum().to(torch::kDouble) * share - 1e-9).ceil();
    const auto names = torch::ones_like(rank).cumsum(1) - 1;  // 0 ... E - 1
    return {names.masked_fill(rank.ge(room), experts), p, p, h, {}, /*balances=*/false};
  }
};

class Hash : public Router {
 public:
  explicit Hash(const MixtureOptions& options)
      : active_(options.active), experts_(options.experts) {}

  Choice choose(const RouterInput& input) override {
    // Each piece orders the experts by a hash of both: a multiplication and a fold of high bits.
    auto mixed =
        (input.ids.unsqueeze(1) * 1'000'003 + torch::arange(experts_, input.ids.options()) + 1) *
        2'654'435'761;
    mixed = mixed.bitwise_xor(mixed.bitwise_right_shift(15)).remainder(2'147'483'647) * 48'271;
    const auto expert = std::get<1>(mixed.remainder(2'147'483'647).topk(active_, -1));  // [N, k]
    return {expert, torch::full_like(expert, 1.0 / static_cast<double>(active_), torch::kFloat)};
  }

 private:
  int64_t active_, experts_;
};

/// The experts of the highest scores, all with weight 1 and nothing to learn.
Choice highest(const torch::Tensor& scores, int64_t active) {
  const auto expert = std::get<1>(scores.topk(active, -1));
  return {expert, torch::ones_like(expert, torch::kFloat)};
}

torch::Tensor direction(const torch::Tensor& x) {
  return x / x.norm(2, -1, /*keepdim=*/true).clamp_min(1e-12);
}

class Oracle : public Router {
 public:
  explicit Oracle(const MixtureOptions& options) : active_(options.active) {}

  Choice choose(const RouterInput& input) override {
    return highest(activity(input.x, input.up, input.up_bias), active_);
  }

 private:
  int64_t active_;
};

class Similarity : public Router {
 public:
  Similarity(const MixtureOptions& options, int64_t d_model)
      : active_(options.active),
        centres_(register_buffer("centres", torch::randn({options.experts, d_model}))) {}

  Choice choose(const RouterInput& input) override {
    return highest(nearness(input.x.to(centres_.scalar_type()), centres_), active_);
  }

 private:
  int64_t active_;
  torch::Tensor centres_;  // [E, D]
};

class Network : public Router {
 public:
  Network(const MixtureOptions& options, int64_t d_model)
      : active_(options.active),
        first_(register_buffer("first", torch::randn({options.experts, d_model}))),
        second_(register_buffer("second", torch::eye(options.experts))) {}

  Choice choose(const RouterInput& input) override {
    return highest(expected_activity(input.x.to(first_.scalar_type()), first_, second_), active_);
  }

 private:
  int64_t active_;
  torch::Tensor first_, second_;  // [E, D], [E, E]
};

struct RouterMaker {
  const MixtureOptions& options;
  int64_t d_model;
  std::shared_ptr<Router> operator()(const SoftmaxRouter& router) const {
    return std::make_shared<Softmax>(options, d_model, router.renormalize, router.jitter);
  }
  std::shared_ptr<Router> operator()(const SwitchRouter& router) const {
    return std::make_shared<Softmax>(options, d_model, false, router.jitter);
  }
  std::shared_ptr<Router> operator()(const NoisyRouter&) const {
    return std::make_shared<Noisy>(options, d_model);
  }
  std::shared_ptr<Router> operator()(const GshardRouter&) const {
    return std::make_shared<Gshard>(options, d_model);
  }
  std::shared_ptr<Router> operator()(const SigmoidRouter& router) const {
    return std::make_shared<Sigmoid>(options, d_model, router);
  }
  std::shared_ptr<Router> operator()(const ExpertChoiceRouter&) const {
    return std::make_shared<ExpertChoice>(options, d_model);
  }
  std::shared_ptr<Router> operator()(const HashRouter&) const {
    return std::make_shared<Hash>(options);
  }
  std::shared_ptr<Router> operator()(const OracleRouter&) const {
    return std::make_shared<Oracle>(options);
  }
  std::shared_ptr<Router> operator()(const SimilarityRouter&) const {
    return std::make_shared<Similarity>(options, d_model);
  }
  std::shared_ptr<Router> operator()(const NetworkRouter&) const {
    return std::make_shared<Network>(options, d_model);
  }
};

}  // namespace

torch::Tensor activity(const torch::Tensor& x, const torch::Tensor& up,
                       const torch::Tensor& up_bias) {
  const auto type = x.scalar_type();
  const auto hidden = torch::linear(x, up.to(type).flatten(0, 1),
                                    up_bias.defined() ? up_bias.to(type).flatten() : up_bias);
  return hidden.relu().unflatten(-1, {up.size(0), -1}).sum(-1);
}

torch::Tensor nearness(const torch::Tensor& x, const torch::Tensor& centres) {
  return 2 * torch::linear(direction(x), centres) - centres.square().sum(-1);
}

torch::Tensor expected_activity(const torch::Tensor& x, const torch::Tensor& first,
                                const torch::Tensor& second) {
  return torch::linear(torch::linear(direction(x), first).tanh(), second);
}

void Router::learn(const torch::Tensor&) {}

std::shared_ptr<Router> make_router(const MixtureOptions& options, int64_t d_model) {
  return std::visit(RouterMaker{options, d_model}, options.router);
}

}  // namespace ablate::models
