#include <gtest/gtest.h>

#include <numeric>

#include "models/module.h"
#include "training/optimizer.h"

namespace ablate::training {
namespace {

/// Matrices that one tensor holds have eigenbases of their own.
TEST(Soap, MovesEveryMapOfATensorAsIfItStoodAlone) {
  struct Pair : models::Module {
    explicit Pair(const std::vector<std::vector<int64_t>>& tensors) {
      for (size_t i = 0; i < tensors.size(); ++i)
        register_parameter("part_" + std::to_string(i),
                           {std::accumulate(tensors[i].begin(), tensors[i].end(), int64_t{0}), 3},
                           models::XavierUniform{.rows = tensors[i]}, models::Role::matrix);
    }
    torch::Tensor all() const { return torch::cat(parameters()); }
  };
  Pair joined({{2, 4}}), apart({{2}, {4}});
  const torch::NoGradGuard no_grad;
  for (auto* model : {&joined, &apart})
    for (auto& parameter : model->parameters()) parameter.zero_();
  const auto together = make_optimizer(Soap{.precondition_frequency = 2}, joined),
             alone = make_optimizer(Soap{.precondition_frequency = 2}, apart);
  for (int step = 1; step <= 6; ++step) {
    const auto gradient = (torch::arange(18, torch::kFloat) * step).sin().view({6, 3});
    joined.parameters()[0].mutable_grad() = gradient;
    apart.parameters()[0].mutable_grad() = gradient.slice(0, 0, 2);
    apart.parameters()[1].mutable_grad() = gradient.slice(0, 2);
    together->step(0.01);
    alone->step(0.01);
  }
  EXPECT_GT(joined.all().abs().max().item<double>(), 0.01);
  EXPECT_LT((joined.all() - apart.all()).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace ablate::training
