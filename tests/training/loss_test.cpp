#include "training/loss.h"

#include <gtest/gtest.h>

namespace ablate::training {
namespace {

struct Case {
  torch::Tensor hidden, weight, target;
};

Case make(int64_t vocabulary, torch::ScalarType type = torch::kFloat) {
  torch::manual_seed(1);
  auto target = torch::randint(1, vocabulary, {3, 7});
  target[1].slice(0, 4).zero_();
  target[2].slice(0, 1).zero_();
  return {torch::randn({3, 7, 16}).to(type).requires_grad_(),
          (torch::randn({vocabulary, 16}) * 0.3).requires_grad_(), target};
}

torch::Tensor reference(const Case& c, double smoothing) {
  return torch::cross_entropy_loss(torch::linear(c.hidden, c.weight).flatten(0, 1),
                                   c.target.flatten(), {}, at::Reduction::Sum, 0, smoothing);
}

TEST(CrossEntropy, EqualsLibTorchsWithItsGradients) {
  for (const int64_t vocabulary : {5, 16, 1000, 70'000})
    for (const double smoothing : {0.0, 0.1}) {
      const auto c = make(vocabulary);
      const auto ours =
          cross_entropy(c.hidden, c.weight, c.target, {.pad = 0, .smoothing = smoothing});
      const auto theirs = reference(c, smoothing);
      EXPECT_NEAR(ours.sum.item<double>() / theirs.item<double>(), 1.0, 1e-5);
      EXPECT_NEAR(ours.nll.item<double>() / reference(c, 0.0).item<double>(), 1.0, 1e-5);
      const auto a = torch::autograd::grad({ours.sum * 0.25}, {c.hidden, c.weight});
      const auto b = torch::autograd::grad({theirs * 0.25}, {c.hidden, c.weight});
      EXPECT_LT((a[0] - b[0]).abs().max().item<double>(), 1e-5) << vocabulary;
      EXPECT_LT((a[1] - b[1]).abs().max().item<double>(), 1e-5) << vocabulary;
    }
}

TEST(CrossEntropy, PaddingHasNoGradient) {
  const auto c = make(50);
  const auto loss = cross_entropy(c.hidden, c.weight, c.target, {.pad = 0, .smoothing = 0.1});
  const auto gradient = torch::autograd::grad({loss.sum}, {c.hidden})[0];
  EXPECT_EQ(gradient.masked_select(c.target.eq(0).unsqueeze(2)).abs().max().item<double>(), 0.0);
  EXPECT_GT(gradient.masked_select(c.target.ne(0).unsqueeze(2)).abs().min().item<double>(), 0.0);
}

TEST(CrossEntropy, UniformLogitsCostLogV) {
  const auto hidden = torch::zeros({1, 2, 4}).requires_grad_();
  const auto weight = torch::randn({10, 4}).requires_grad_();
  const auto loss =
      cross_entropy(hidden, weight, torch::tensor({{3, 4}}), {.pad = 0, .smoothing = 0.3});
  EXPECT_NEAR(loss.sum.item<double>(), 2 * std::log(10.0), 1e-5);
}

TEST(CrossEntropy, Bfloat16StaysNearFloat) {
  const auto exact = make(300), rounded = make(300, torch::kBFloat16);
  const auto a =
      cross_entropy(exact.hidden, exact.weight, exact.target, {.pad = 0, .smoothing = 0.1});
  const auto b =
      cross_entropy(rounded.hidden, rounded.weight, rounded.target, {.pad = 0, .smoothing = 0.1});
  EXPECT_NEAR(a.sum.item<double>() / b.sum.item<double>(), 1.0, 0.01);
}

TEST(CrossEntropy, IsTheSameWithoutGradients) {
  const auto c = make(40);
  const auto with = cross_entropy(c.hidden, c.weight, c.target, {.pad = 0, .smoothing = 0.1});
  torch::NoGradGuard no_grad;
  const auto without = cross_entropy(c.hidden, c.weight, c.target, {.pad = 0, .smoothing = 0.1});
  EXPECT_NEAR(with.sum.item<double>() / without.sum.item<double>(), 1.0, 1e-6);
}

}  // namespace
}  // namespace ablate::training
