#include "data/tasks/table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ablate::data {
namespace {

std::vector<Example> all_of(const Corpus& corpus) {
  auto all = corpus.train;
  all.insert(all.end(), corpus.validation.begin(), corpus.validation.end());
  const auto& test = corpus.tests.at(0).examples;
  all.insert(all.end(), test.begin(), test.end());
  return all;
}

/// Symbols are a = 0, b = 1 and so on.
TEST(Table, OfFiveHasTheSumsDifferencesProductsAndQuotientsOfSchool) {
  using enum TableOperation;
  const std::map<TableOperation, std::map<std::string, std::string>> expected{
      {add, {{"d e", "c"}, {"a a", "a"}}},       // 3 + 4 = 7 = 2
      {subtract, {{"b d", "d"}, {"e e", "a"}}},  // 1 - 3 = -2 = 3
      {multiply, {{"d e", "c"}, {"a e", "a"}}},  // 3 * 4 = 12 = 2
      {divide, {{"c e", "d"}, {"a b", "a"}}}};   // 2 / 4 = 3, since 3 * 4 = 2
  for (const auto& [operation, wanted] : expected) {
    std::map<std::string, std::string> table;
    for (const auto& one : all_of(operation_table({.operation = operation, .modulus = 5}, 1)))
      EXPECT_TRUE(table.emplace(one.source, one.target).second) << one.source;
    EXPECT_EQ(table.size(), operation == divide ? 20U : 25U);
    for (const auto& [source, target] : wanted) EXPECT_EQ(table.at(source), target) << source;
  }
}

/// In the order of the alphabet the permutations of 0, 1, 2 are a = 012, b = 021, c = 102, d = 120,
/// e = 201, f = 210. Left after right: c (swap the first two) after b gives d.
TEST(Table, OfPermutationsComposesThem) {
  std::map<std::string, std::string> table;
  for (const auto& one :
       all_of(operation_table({.operation = TableOperation::permute, .modulus = 3}, 1)))
    table[one.source] = one.target;
  EXPECT_EQ(table.size(), 36U);
  EXPECT_EQ(table.at("c b"), "d");
  EXPECT_EQ(table.at("b c"), "e");
  EXPECT_EQ(table.at("f f"), "a");
}

TEST(Table, IsDividedByTheShareAndAnewWithEverySeed) {
  const Table task{.modulus = 11, .share = 0.3};
  const auto corpus = operation_table(task, 1);
  EXPECT_EQ(corpus.train.size(), 36U);  // of 121
  EXPECT_EQ(corpus.tests.at(0).examples.size(), 42U);
  EXPECT_EQ(corpus.validation.size(), 43U);
  std::set<std::string> sources;
  for (const auto& one : all_of(corpus)) EXPECT_TRUE(sources.insert(one.source).second);
  EXPECT_NE(corpus.train, operation_table(task, 2).train);
  EXPECT_EQ(corpus.train, operation_table(task, 1).train);
}

TEST(Table, AShareThatLeavesNothingIsRefused) {
  EXPECT_THROW(operation_table({.modulus = 2, .share = 0.9}, 1), DataError);
  EXPECT_THROW(operation_table({.modulus = 2, .share = 0.1}, 1), DataError);
}

}  // namespace
}  // namespace ablate::data
