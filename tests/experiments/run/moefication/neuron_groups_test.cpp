#include "experiments/run/moefication/neuron_groups.h"

#include <gtest/gtest.h>

#include <set>

namespace ablate::run {
namespace {

/// The sets of neurons that stand together. // [F]
std::set<std::set<int64_t>> sets_of(const torch::Tensor& order, int64_t groups) {
  std::set<std::set<int64_t>> all;
  const int64_t size = order.size(0) / groups;
  for (int64_t g = 0; g < groups; ++g) {
    std::set<int64_t> one;
    for (int64_t i = 0; i < size; ++i) one.insert(order[g * size + i].item<int64_t>());
    all.insert(one);
  }
  return all;
}

/// Neuron i belongs to planted group i % 3.
const std::set<std::set<int64_t>> kPlanted = {{0, 3, 6, 9}, {1, 4, 7, 10}, {2, 5, 8, 11}};

TEST(NeuronGroups, EveryNeuronIsInOneGroup) {
  torch::manual_seed(1);
  const auto up = torch::randn({24, 5});
  for (const auto& order : {random_groups(24, 1), clustered_groups(up, 4, 1),
                            coactive_groups(torch::randn({50, 24}).relu(), 4)})
    EXPECT_TRUE(torch::equal(std::get<0>(order.sort()), torch::arange(24)));
}

TEST(NeuronGroups, LikeDirectionsOfAnyLengthAreClusters) {
  torch::manual_seed(1);
  const auto centres = torch::eye(3);
  const auto planted = torch::arange(12).remainder(3);
  auto up = centres.index_select(0, planted) + torch::randn({12, 3}) * 0.05;
  up = up * (torch::rand({12, 1}) * 10 + 0.1);
  EXPECT_EQ(sets_of(clustered_groups(up, 3, 1), 3), kPlanted);
}

TEST(NeuronGroups, ClustersOfUnequalSizeAreStillCutEqually) {
  // Ten like neurons and two others: groups of six each.
  torch::manual_seed(1);
  auto up = torch::randn({12, 4}) * 0.01;
  up.slice(0, 0, 10).select(1, 0).add_(1);
  up.slice(0, 10).select(1, 1).add_(1);
  const auto sets = sets_of(clustered_groups(up, 2, 1), 2);
  for (const auto& one : sets) EXPECT_EQ(one.size(), 6U);
  const bool together = std::ranges::any_of(
      sets, [](const auto& one) { return one.contains(10) && one.contains(11); });
  EXPECT_TRUE(together);
}

TEST(NeuronGroups, WhatIsActiveTogetherIsAGroup) {
  torch::manual_seed(1);
  // At every position one planted group is active, with some noise elsewhere.
  const auto active = torch::randint(0, 3, {200, 1});
  const auto planted = torch::arange(12).remainder(3).unsqueeze(0);
  const auto hidden = active.eq(planted) * torch::rand({200, 12}) + torch::rand({200, 12}) * 0.1;
  EXPECT_EQ(sets_of(coactive_groups(hidden, 3), 3), kPlanted);
}

}  // namespace
}  // namespace ablate::run
