#include "models/ops/doubly_stochastic.h"

#include <gtest/gtest.h>

#include "tests/models/models.h"

namespace ablate::models::ops::doubly_stochastics {
namespace {

/// Doubles, which are computed by operators and by autograd's gradient.
torch::Tensor doubles(const torch::Tensor& x) { return x.to(torch::kDouble); }

TEST(DoublyStochastic, AMatrixOfTwoBalancesItsDiagonals) {
  // Of [[a, b], [c, d]] the balanced matrix has p = √(ad) / (√(ad) + √(bc)) on its diagonal.
  const auto logits = torch::tensor({4.0F, 1.0F, 9.0F, 4.0F}).log().view({2, 2});
  const double p = 4.0 / (4.0 + 3.0);
  const auto expected = torch::tensor({p, 1 - p, 1 - p, p}).view({2, 2});
  EXPECT_LT(largest_difference(doubly_stochastic(logits), expected), 1e-6);
  EXPECT_LT(largest_difference(doubly_stochastic(doubles(logits)), expected), 1e-6);
}

TEST(DoublyStochastic, ValuesAndGradientsOfFloatsAreThoseOfDoublesInAnyNumberAndSize) {
  torch::manual_seed(1);
  for (const int64_t n : {2, 3, 4, 16})
    for (const int64_t count : {1, 16, 37, 600}) {
      SCOPED_TRACE(c10::str(count, " of ", n));
      const auto logits = 3 * torch::randn({count, n, n}), of_y = torch::randn({count, n, n});
      const auto results = [&](const torch::Tensor& x) {
        const auto input = x.clone().requires_grad_();
        const auto y = doubly_stochastic(input);
        y.backward(of_y.to(x.scalar_type()));
        return std::pair{y.detach(), input.grad()};
      };
      const auto [y, of_logits] = results(logits);
      const auto [expected, of_expected] = results(doubles(logits));
      EXPECT_EQ(y.scalar_type(), torch::kFloat);
      EXPECT_LT(largest_difference(y, expected), 1e-6);
      EXPECT_LT(largest_difference(of_logits, of_expected), 2e-5);
      const torch::NoGradGuard no_grad;
      EXPECT_TRUE(torch::equal(doubly_stochastic(logits), y)) << "without a gradient";
    }
}

TEST(DoublyStochastic, TheLastDivisionIsThatOfTheRows) {
  torch::manual_seed(1);
  const auto logits = 8 * torch::randn({50, 4, 4});  // too far from balance for twenty rounds
  for (const auto& x : {logits, doubles(logits)}) {
    const auto y = doubly_stochastic(x);
    EXPECT_LT(largest_difference(y.sum(-1), torch::ones({1})), 1e-6);
    EXPECT_GT(largest_difference(y.sum(-2), torch::ones({1})), 1e-3);
  }
}

TEST(DoublyStochastic, RowsThatAreFarBelowTheOthersAreBalanced) {
  auto logits = torch::zeros({1, 3, 3});
  logits[0][1] = -300;
  logits.select(2, 2) -= 200;
  for (const auto& x : {logits, doubles(logits)}) {
    const auto input = x.clone().requires_grad_();
    const auto y = doubly_stochastic(input);
    y.select(2, 0).sum().backward();
    EXPECT_LT(largest_difference(y.sum(-1), torch::ones({1, 3})), 1e-5);
    EXPECT_TRUE(input.grad().isfinite().all().item<bool>());
  }
}

TEST(DoublyStochastic, NoMatricesAreNone) {
  EXPECT_EQ(doubly_stochastic(torch::zeros({0, 4, 4})).sizes(), (std::vector<int64_t>{0, 4, 4}));
}

}  // namespace
}  // namespace ablate::models::ops::doubly_stochastics
