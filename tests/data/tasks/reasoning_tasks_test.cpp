#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/tasks/generated.h"

namespace ablate::data {
namespace {

using Words = std::vector<std::string>;

/// The edges before the question mark.
std::vector<std::pair<std::string, std::string>> edges_of(const Words& source) {
  std::vector<std::pair<std::string, std::string>> edges;
  for (size_t i = 0; source.at(i) != "?"; i += 2) edges.emplace_back(source[i], source.at(i + 1));
  return edges;
}

TEST(Depo, WantsTheNodeSoManyStepsAlongTheCycle) {
  std::set<int64_t> hops;
  for (const auto& example : tested(Depo{})) {
    const auto source = words(example.source);
    std::map<std::string, std::string> next;
    for (const auto& [from, to] : edges_of(source)) next[from] = to;
    EXPECT_EQ(next.size(), 12U) << "one edge from every node";
    auto node = source.back();
    const auto first = node;
    const int64_t count = std::stoll(source.at(source.size() - 2));
    for (int64_t i = 0; i < count; ++i) node = next.at(node);
    EXPECT_EQ(example.target, node) << example.source;
    auto around = next.at(first);
    for (int i = 1; i < 12; ++i, around = next.at(around)) EXPECT_NE(around, first) << "one cycle";
    EXPECT_EQ(around, first);
    hops.insert(count);
  }
  EXPECT_EQ(hops, (std::set<int64_t>{1, 2, 3, 4}));
}

TEST(Brevo, WantsAllThatANodeDependsOnInTheFirstOrderThatAgrees) {
  size_t longest = 0;
  for (const auto& example : tested(Brevo{})) {
    const auto source = words(example.source), order = words(example.target);
    std::map<std::string, std::set<std::string>> needs;
    for (const auto& [from, to] : edges_of(source)) needs[to].insert(from);
    for (const auto& [node, lower] : needs) EXPECT_LE(lower.size(), 3U) << node;
    std::set<std::string> wanted{source.back()}, written;
    for (bool grows = true; grows;) {
      const size_t before = wanted.size();
      for (const auto& node : std::set(wanted))
        wanted.insert(needs[node].begin(), needs[node].end());
      grows = wanted.size() > before;
    }
    EXPECT_EQ(std::set(order.begin(), order.end()), wanted) << example.source;
    EXPECT_EQ(order.size(), wanted.size()) << example.source;
    EXPECT_EQ(order.back(), source.back());
    for (const auto& node : order) {
      const auto may_come = [&](const std::string& one) {
        return !written.contains(one) && std::ranges::includes(written, needs[one]);
      };
      const auto first = std::ranges::find_if(wanted, may_come);
      ASSERT_NE(first, wanted.end()) << example.source;
      EXPECT_EQ(node, *first) << example.source << " -> " << example.target;
      written.insert(node);
    }
    longest = std::max(longest, order.size());
  }
  EXPECT_GT(longest, 6U);
}

/// The value of the expression that begins at `place`, which moves behind it.
int64_t value_of(const Words& source, size_t& place, int64_t modulus) {
  const auto word = source.at(place++);
  if (std::string("+-*").find(word) == std::string::npos) return std::stoll(word);
  const int64_t left = value_of(source, place, modulus), right = value_of(source, place, modulus);
  const int64_t value = word == "*" ? left * right : word == "+" ? left + right : left - right;
  return (value % modulus + modulus) % modulus;
}

TEST(Mano, WantsTheValueOfTheExpression) {
  std::set<std::string> values;
  for (const auto& example : tested(Mano{})) {
    const auto source = words(example.source);
    EXPECT_EQ(source.size(), 9U) << "four operations and five numbers";
    size_t place = 0;
    EXPECT_EQ(example.target, std::to_string(value_of(source, place, 23))) << example.source;
    EXPECT_EQ(place, source.size());
    values.insert(example.target);
  }
  EXPECT_EQ(values.size(), 23U);
}

}  // namespace
}  // namespace ablate::data
