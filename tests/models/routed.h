#pragma once

#include <gtest/gtest.h>

#include "models/feed_forward/feed_forward.h"
#include "tests/models/models.h"

namespace ablate::models {

inline StackOptions mixture_stack(bool causal = false) {
  return {.d_model = 4, .causal = causal, .layers = {}, .depth = 1, .bias = false};
}

/// A mixture whose scores are its input: the router's matrix is the identity.
inline std::shared_ptr<Mixture> identity(MixtureOptions options, bool causal = false) {
  torch::manual_seed(1);
  options.experts = 4;
  options.d_hidden = 3;
  auto mixture = initialized(std::make_shared<Mixture>(options, mixture_stack(causal)));
  torch::NoGradGuard no_grad;
  mixture->named_parameters()["router.weight"].copy_(torch::eye(4));
  mixture->named_parameters()["up"].abs_();  // positive scores find hidden neurons at work
  return mixture;
}

struct RoutedRun {
  torch::Tensor y;
  RoutingStatistics routing;
};

inline RoutedRun run(Mixture& mixture, const torch::Tensor& scores,
                     const ForwardContext& context = {}) {
  const auto [y, routing] = mixture.forward(scores.unsqueeze(0), context);
  return {y.squeeze(0), statistics_of(routing.value())};
}

/// Scores that send position i to expert `experts[i]` with almost all probability.
inline torch::Tensor towards(const std::vector<int64_t>& experts) {
  return torch::one_hot(torch::tensor(experts), 4).to(torch::kFloat) * 30;
}

}  // namespace ablate::models
