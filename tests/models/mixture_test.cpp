#include <gtest/gtest.h>

#include <cmath>

#include "models/feed_forward/feed_forward.h"
#include "tests/models/models.h"

namespace ablate::models {
namespace {

StackOptions stack(bool bias = true) {
  return {.d_model = 8, .causal = false, .layers = {}, .depth = 1, .bias = bias};
}

MixtureOptions small_mixture(RouterOptions router, int64_t active, int64_t experts = 4) {
  return {.experts = experts, .active = active, .d_hidden = 6, .router = router};
}

struct Made {
  std::shared_ptr<Mixture> mixture;
  std::map<std::string, torch::Tensor> parameters;
};

/// A mixture in double with weights and biases far from their start.
Made made(const MixtureOptions& options, bool bias = true) {
  torch::manual_seed(3);
  Made result{std::make_shared<Mixture>(options, stack(bias)), {}};
  initialize(*result.mixture, 3);
  result.mixture->to(torch::kDouble);
  torch::NoGradGuard no_grad;
  for (auto& item : result.mixture->named_parameters()) {
    item.value().add_(torch::randn_like(item.value()) * 0.3);
    result.parameters[item.key()] = item.value();
  }
  return result;
}

torch::Tensor input(int64_t rows = 3, int64_t length = 5) {
  torch::manual_seed(5);
  return torch::randn({rows, length, 8}, torch::kDouble);
}

torch::Tensor token_ids_of(const torch::Tensor& x) {
  return (torch::arange(x.size(0) * x.size(1)) * 7 + 5).view({x.size(0), x.size(1)});
}

RoutedOutput evaluation(const Made& model, const torch::Tensor& x,
                        const torch::Tensor& padding_mask = {}) {
  return model.mixture->forward(x, {.padding_mask = padding_mask, .token_ids = token_ids_of(x)});
}

torch::Tensor evaluated(const Made& model, const torch::Tensor& x) {
  return evaluation(model, x).output;
}

RoutingStatistics statistics_of(const RoutedOutput& output) {
  return models::statistics_of(output.routing.value());
}

/// One expert by itself. // [D] -> [D]
torch::Tensor expert(const Made& model, int64_t e, const torch::Tensor& x) {
  const auto hidden = model.parameters.at("up")[e].mv(x) + model.parameters.at("up_bias")[e];
  return model.parameters.at("down")[e].t().mv(hidden.relu()) + model.parameters.at("down_bias")[e];
}

/// The definition, position by position and expert by expert, for routers of softmax scores.
torch::Tensor by_definition(const Made& model, const torch::Tensor& x, int64_t active,
                            bool renormalize) {
  auto output = torch::zeros_like(x);
  for (int64_t b = 0; b < x.size(0); ++b)
    for (int64_t t = 0; t < x.size(1); ++t) {
      const auto p = model.parameters.at("router.weight").mv(x[b][t]).softmax(0);
      const auto [weight, chosen] = p.topk(active);
      const auto scale = renormalize ? weight.sum() : torch::ones({}, torch::kDouble);
      for (int64_t k = 0; k < active; ++k)
        output[b][t] += weight[k] / scale * expert(model, chosen[k].item<int64_t>(), x[b][t]);
    }
  return output;
}

const std::vector<std::pair<std::string, MixtureOptions>>& token_choice() {
  static const std::vector<std::pair<std::string, MixtureOptions>> all = {
      {"softmax", small_mixture(SoftmaxRouter{}, 2)},
      {"softmax, as they are", small_mixture(SoftmaxRouter{.renormalize = false}, 3)},
      {"switch", small_mixture(SwitchRouter{}, 1)},
      {"noisy", small_mixture(NoisyRouter{}, 2)},
      {"gshard", small_mixture(GshardRouter{}, 2)},
      {"sigmoid", small_mixture(SigmoidRouter{}, 2)},
      {"hash", small_mixture(HashRouter{}, 2)}};
  return all;
}

std::vector<std::pair<std::string, MixtureOptions>> all_routers() {
  auto all = token_choice();
  all.emplace_back("expert_choice", small_mixture(ExpertChoiceRouter{}, 2));
  return all;
}

TEST(Mixture, IsTheSumOverChosenExperts) {
  torch::NoGradGuard no_grad;
  for (const int64_t active : {1, 2, 4})
    for (const bool renormalize : {false, true}) {
      const auto model = made(small_mixture(SoftmaxRouter{.renormalize = renormalize}, active));
      for (const auto& x : {input(), input(1, 1), input(1, 7) * 0})
        EXPECT_LT(
            largest_difference(evaluated(model, x), by_definition(model, x, active, renormalize)),
            1e-12)
            << active << renormalize;
    }
}

TEST(Mixture, AllPositionsMayGoToOneExpertAndNoneToOthers) {
  torch::NoGradGuard no_grad;
  const auto model = made(small_mixture(SoftmaxRouter{.renormalize = false}, 1));
  auto router = model.parameters.at("router.weight");
  router.zero_();
  router[2].fill_(50);
  const auto x = input().abs();
  EXPECT_LT(largest_difference(evaluated(model, x), by_definition(model, x, 1, false)), 1e-12);
  EXPECT_TRUE(torch::equal(statistics_of(evaluation(model, x)).counts,
                           torch::tensor({0, 0, 15, 0}, torch::kLong)));
}

TEST(Mixture, AnEmptyExpertGetsZeroGradients) {
  const auto model = made(small_mixture(SoftmaxRouter{.renormalize = false}, 1));
  {
    torch::NoGradGuard no_grad;
    auto router = model.parameters.at("router.weight");
    router.zero_();
    router[2].fill_(1);
  }
  evaluated(model, input().abs()).square().sum().backward();
  const auto gradient = model.parameters.at("up").grad();
  EXPECT_GT(gradient[2].abs().max().item<double>(), 0.0);
  EXPECT_EQ(gradient[0].abs().max().item<double>(), 0.0);
}

/// A mixture's parameter by the name of a dense feed-forward's, and one expert of it in the dense
/// one's shape.
std::string mixture_name(const std::string& dense) {
  return dense.substr(0, dense.find('.')) + (dense.ends_with("bias") ? "_bias" : "");
}
torch::Tensor as_dense(const std::string& name, const torch::Tensor& all) {
  return name == "down" ? all[0].t() : all[0];
}

/// The dense feed-forward with one expert's weights.
std::shared_ptr<Dense> dense_of(const Made& model, int64_t width) {
  auto dense = std::make_shared<Dense>(DenseFeedForward{.d_hidden = width}, stack());
  dense->to(torch::kDouble);
  torch::NoGradGuard no_grad;
  for (auto& item : dense->named_parameters()) {
    const auto name = mixture_name(item.key());
    item.value().copy_(as_dense(name, model.parameters.at(name)));
  }
  return dense;
}

TEST(Mixture, OfOneExpertIsTheDenseFeedForwardInOutputAndGradient) {
  const auto model = made(small_mixture(SoftmaxRouter{}, 1, 1));
  const auto dense = dense_of(model, 6);
  auto x = input().requires_grad_(), same = input().requires_grad_();
  const auto first = evaluated(model, x), second = dense->forward(same, {}).output;
  EXPECT_LT(largest_difference(first, second), 1e-12);
  const auto seed = torch::randn_like(first);
  first.backward(seed);
  second.backward(seed);
  EXPECT_LT(largest_difference(x.grad(), same.grad()), 1e-12);
  for (auto& item : dense->named_parameters()) {
    const auto name = mixture_name(item.key());
    const auto gradient = as_dense(name, model.parameters.at(name).grad());
    EXPECT_LT(largest_difference(gradient, item.value().grad()), 1e-12) << name;
  }
  const auto router = model.parameters.at("router.weight").grad();
  EXPECT_LT(router.abs().max().item<double>(), 1e-12);
}

TEST(Mixture, OfIdenticalExpertsIsTheDenseFeedForwardWhereWeightsSumToOne) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : token_choice()) {
    if (options.active == 1 || name == "softmax, as they are") continue;
    const auto model = made(options);
    for (const auto* each : {"up", "up_bias", "down", "down_bias"}) {
      auto table = model.parameters.at(each);
      table.copy_(table[0].unsqueeze(0).expand_as(table).clone());
    }
    EXPECT_LT(largest_difference(evaluated(model, input()),
                                 dense_of(model, 6)->forward(input(), {}).output),
              1e-12)
        << name;
  }
}

TEST(Mixture, PositionsMayComeInAnyOrder) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : token_choice()) {
    if (name == "hash") continue;  // chooses by the token, which moves along
    const auto model = made(options);
    const auto order = torch::tensor({3, 0, 4, 1, 2});
    EXPECT_LT(largest_difference(evaluated(model, input().index_select(1, order)),
                                 evaluated(model, input()).index_select(1, order)),
              1e-12)
        << name;
  }
}

TEST(Mixture, PaddingChangesNothingAndGetsNothing) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : all_routers()) {
    if (name == "hash") continue;  // token_ids_of() numbers by place; see HashRouter tests
    const auto model = made(options);
    const auto x = input(1, 3), noise = input(1, 2) * 100;
    const auto padding_mask = torch::tensor({{true, true, true, false, false}});
    const auto first = evaluation(model, x);
    const auto second = evaluation(model, torch::cat({x, noise}, 1), padding_mask);
    EXPECT_LT(largest_difference(first.output, second.output.slice(1, 0, 3)), 1e-12) << name;
    EXPECT_EQ(second.output.slice(1, 3).abs().max().item<double>(), 0.0) << name;
    const auto alone = statistics_of(first), padded = statistics_of(second);
    EXPECT_TRUE(torch::equal(alone.counts, padded.counts)) << name;
    EXPECT_LT(largest_difference(alone.z, padded.z), 1e-9) << name;
    if (alone.load.defined()) {
      EXPECT_LT(largest_difference(alone.load, padded.load), 1e-9) << name;
    }
  }
}

/// Two sequences of three positions and, with padding, one of two.
TEST(Mixture, EvaluationMakesTheSameOfASequenceAloneAndAmongOthers) {
  const torch::NoGradGuard no_grad;
  auto all = all_routers();
  for (const auto keep : {Keep::first, Keep::likeliest}) {
    auto limited = small_mixture(SoftmaxRouter{}, 2);
    limited.capacity = LimitedCapacity{.evaluation = 0.6, .keep = keep};
    all.emplace_back("limited", limited);
  }
  auto mask = torch::ones({3, 3}, torch::kBool);
  mask[2][2] = false;
  const auto x = input(3, 3), ids = token_ids_of(x);
  for (const auto& [name, options] : all) {
    const auto model = made(options);
    const auto forward = [&](int64_t row, int64_t rows, int64_t length) {
      const auto part = [&](const torch::Tensor& whole) {
        return whole.narrow(0, row, rows).narrow(1, 0, length);
      };
      return model.mixture->forward(part(x), {.padding_mask = part(mask), .token_ids = part(ids)})
          .output;
    };
    const auto together = forward(0, 3, 3);
    for (int64_t row = 0; row < 3; ++row) {
      const int64_t length = row == 2 ? 2 : 3;
      EXPECT_LT(largest_difference(forward(row, 1, length),
                                   together.narrow(0, row, 1).narrow(1, 0, length)),
                1e-12)
          << name << " " << row;
    }
  }
}

TEST(Mixture, EveryPositionIsSentToItsNumberOfExperts) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : token_choice()) {
    const auto statistics = statistics_of(evaluation(made(options), input()));
    EXPECT_EQ(statistics.counts.sum().item<int64_t>(), 15 * options.active) << name;
    EXPECT_EQ(statistics.dropped.item<double>(), 0.0) << name;
  }
}

TEST(Mixture, TrainingDrawsFromTheSeedOfThePass) {
  torch::NoGradGuard no_grad;
  auto jittered = small_mixture(SoftmaxRouter{.jitter = 0.3}, 2);
  for (const auto& options :
       {jittered, small_mixture(NoisyRouter{}, 2), small_mixture(SwitchRouter{.jitter = 0.3}, 1)}) {
    const auto model = made(options);
    const auto run = [&](uint64_t seed) {
      return model.mixture->forward(input(), {.training = true, .seed = seed}).output;
    };
    EXPECT_EQ(largest_difference(run(1), run(1)), 0.0);
    EXPECT_GT(largest_difference(run(1), run(2)), 1e-6);
    EXPECT_GT(largest_difference(run(1), evaluated(model, input())), 1e-6);
  }
}

TEST(Mixture, TheTaskAloneTrainsTheRouter) {
  for (const auto& [name, options] : token_choice()) {
    if (name == "hash") continue;
    const auto model = made(options);
    evaluated(model, input()).square().sum().backward();
    EXPECT_GT(model.parameters.at("router.weight").grad().norm().item<double>(), 1e-6) << name;
  }
  // What the configuration refuses: one weight divided by itself.
  const auto dead = made(small_mixture(SoftmaxRouter{.renormalize = true}, 1));
  evaluated(dead, input()).square().sum().backward();
  EXPECT_LT(dead.parameters.at("router.weight").grad().norm().item<double>(), 1e-12);
}

TEST(Mixture, GradientsAreThoseOfFiniteDifferences) {
  for (const auto& [name, options] : all_routers()) {
    const auto model = made(options);
    const auto loss = [&] { return evaluated(model, input()).square().sum(); };
    loss().backward();
    for (const auto& [key, parameter] : model.parameters) {
      if (!parameter.grad().defined()) continue;  // noise of a pass that does not train
      torch::NoGradGuard no_grad;
      auto flat = parameter.view(-1);
      const int64_t at = parameter.grad().abs().argmax().item<int64_t>();
      const double kept = flat[at].item<double>(), step = 1e-6;
      flat[at] = kept + step;
      const double above = loss().item<double>();
      flat[at] = kept - step;
      const double below = loss().item<double>();
      flat[at] = kept;
      const double expected = parameter.grad().view(-1)[at].item<double>();
      EXPECT_NEAR((above - below) / (2 * step), expected, 1e-4 * std::max(1.0, std::abs(expected)))
          << name << " " << key;
    }
  }
}

}  // namespace
}  // namespace ablate::models
