#include "models/ops/backend.h"

#include <gtest/gtest.h>

#include "models/ops/attention.h"
#include "models/ops/elementwise.h"
#include "models/ops/linear_cross_entropy.h"

namespace ablate::models::ops {
namespace {

/// An operation of one input. // [1, 3, 12] -> any
struct Operation {
  std::string name;
  std::function<torch::Tensor(const torch::Tensor&)> run;
};

std::vector<Operation> operations() {
  const Heads heads{1, 1, 4, 4};
  const auto self = [heads](const torch::Tensor& x) {
    return attention({.query = x, .heads = heads}).values;
  };
  const auto cross = [heads](const torch::Tensor& x) {
    return attention(
               {.query = torch::ones({1, 3, 4}), .key_value = x.narrow(-1, 0, 8), .heads = heads})
        .values;
  };
  std::vector<Operation> all{
      {"self_attention", self},
      {"cross_attention", cross},
      {"dropout", [](const auto& x) { return dropout(x, {.rate = 0.5, .noise = {1}}); }},
      {"linear_cross_entropy", [](const auto& x) {
         return linear_cross_entropy(x, torch::ones({7, 12}).tril(), torch::tensor({{1, 2, 3}}),
                                     {.ignored = 0})
             .loss;
       }}};
  if (kHasKernels)  // LibTorch's operators have one
    all.push_back({"add_norm", [](const auto& x) {
                     const LayerNorm norm{torch::ones({12}), torch::zeros({12}), 1e-5};
                     return add_norm(x, x.sin(), norm, {.rate = 0.5, .noise = {1}});
                   }});
  return all;
}

class SecondDerivative : public testing::TestWithParam<Operation> {};

TEST_P(SecondDerivative, IsRefusedWithASentenceAndNotZero) {
  torch::manual_seed(1);
  const auto x = torch::randn({1, 3, 12}).requires_grad_();
  const auto y = GetParam().run(x).square().sum();
  EXPECT_TRUE(torch::autograd::grad({y}, {x}, {}, /*retain_graph=*/true)[0].defined());
  try {
    const auto first = torch::autograd::grad({y}, {x}, {}, true, /*create_graph=*/true)[0];
    torch::autograd::grad({first.square().sum()}, {x});
    FAIL() << "a second derivative came back";
  } catch (const c10::Error& error) {
    // "derivative for ... is not implemented" where LibTorch's own attention serves.
    const std::string what = error.what_without_backtrace();
    EXPECT_TRUE(what.find("has no second derivative") != std::string::npos ||
                (!kHasKernels && what.find("is not implemented") != std::string::npos))
        << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, SecondDerivative, testing::ValuesIn(operations()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ablate::models::ops
