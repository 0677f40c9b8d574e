#include "data/tasks/symbol_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/data/tasks/generated.h"

namespace ablate::data {
namespace {

TEST(SymbolTasks, TargetsAreWhatTheTaskSays) {
  const auto copy = tested(Copy{})[0];
  EXPECT_EQ(copy.source, copy.target);
  const auto reverse = tested(Reverse{})[0];
  EXPECT_EQ(std::string(reverse.source.rbegin(), reverse.source.rend()), reverse.target);
  auto sorted = tested(Sort{})[0];
  std::string letters = sorted.source, target = sorted.target;
  std::erase(letters, ' ');
  std::erase(target, ' ');
  std::sort(letters.begin(), letters.end());
  EXPECT_EQ(letters, target);
}

TEST(Duplicate, WritesTheSourceTwice) {
  for (const auto& example : tested(Duplicate{}))
    EXPECT_EQ(example.target, example.source + " " + example.source);
}

TEST(Parity, SaysWhetherBStandsThereAnOddNumberOfTimes) {
  std::set<std::string> targets;
  for (const auto& example : tested(Parity{})) {
    const auto count = std::ranges::count(example.source, 'b');
    EXPECT_EQ(example.target, count % 2 == 1 ? "b" : "a") << example.source;
    targets.insert(example.target);
  }
  EXPECT_EQ(targets.size(), 2U);
}

TEST(SelectiveCopy, WritesTheSymbolsAmongTheBlanks) {
  for (const auto& example : tested(SelectiveCopy{})) {
    auto marked = words(example.source);
    EXPECT_EQ(marked.size(), 12U);
    std::erase(marked, ".");
    EXPECT_EQ(marked.size(), 4U);
    EXPECT_EQ(marked, words(example.target));
  }
}

/// The value of an expression, term by term and factor by factor.
int64_t value_of(const std::string& text) {
  int64_t sum = 0, sign = 1, product = 1;
  bool times = false;
  for (const auto& word : words(text)) {
    if (word == "*") {
      times = true;
    } else if (word == "+" || word == "-") {
      sum += sign * product;
      sign = word == "+" ? 1 : -1;
      product = 1;
      times = false;
    } else {
      product = times ? product * std::stoll(word) : std::stoll(word);
    }
  }
  return sum + sign * product;
}

TEST(ModularArithmetic, WritesTheValueModuloTheNumberOfSymbols) {
  EXPECT_EQ(value_of("2 - 3 * 4 + 1"), -9);
  for (const auto& example : tested(ModularArithmetic{})) {
    const int64_t value = (value_of(example.source) % 5 + 5) % 5;
    EXPECT_EQ(example.target, std::to_string(value)) << example.source;
  }
}

TEST(Dyck, TheTargetClosesWhatIsOpen) {
  for (const auto& example : tested(Dyck{})) {
    std::vector<std::string> open;
    size_t deepest = 0;
    auto all = words(example.source);
    EXPECT_EQ(all.size(), 12U);
    const auto closing = words(example.target);
    EXPECT_FALSE(closing.empty());
    all.insert(all.end(), closing.begin(), closing.end());
    for (const auto& bracket : all) {
      if (bracket.front() == '<') {
        open.push_back(bracket.substr(1));
        deepest = std::max(deepest, open.size());
      } else {
        ASSERT_FALSE(open.empty()) << example.source;
        EXPECT_EQ(bracket.substr(1), open.back()) << example.source;
        open.pop_back();
      }
    }
    EXPECT_TRUE(open.empty());
    EXPECT_LE(deepest, 6U);
  }
}

TEST(Recall, EveryKeyAskedForHasItsValue) {
  for (const auto& example : tested(Recall{})) {
    const auto all = words(example.source);
    std::map<std::string, std::string> value_of;
    size_t at = 0;
    for (; all[at] != "?"; at += 2) EXPECT_TRUE(value_of.emplace(all[at], all[at + 1]).second);
    EXPECT_EQ(value_of.size(), 6U);
    std::vector<std::string> wanted;
    for (++at; at < all.size(); ++at) wanted.push_back(value_of.at(all[at]));
    EXPECT_EQ(wanted.size(), 2U);
    EXPECT_EQ(wanted, words(example.target));
  }
}

}  // namespace
}  // namespace ablate::data
