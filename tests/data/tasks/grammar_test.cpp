#include "data/tasks/grammar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

namespace ablate::data {
namespace {

constexpr auto kImpossible = -std::numeric_limits<double>::infinity();

using String = std::vector<int64_t>;

/// Of terminals as they are written, from 1 to 3.
String string_of(const std::string& digits) {
  String string;
  for (const char digit : digits) string.push_back(digit - '1');
  return string;
}

GrammarName named(const std::string& name) {
  for (const auto& [grammar, word] : names(GrammarName{}))
    if (word == name) return grammar;
  throw std::invalid_argument(name);
}

TEST(Grammar, OfOneLevelHasOneOfFourRules) {
  const Grammar grammar({.grammar = GrammarName::cfg3f, .levels = 1});
  for (const auto* string : {"221", "322", "312", "32"})
    EXPECT_NEAR(grammar.log_probability(string_of(string)), std::log(0.25), 1e-12) << string;
  for (const auto* string : {"22", "3221", "2213", "1", ""})
    EXPECT_EQ(grammar.log_probability(string_of(string)), kImpossible) << string;
}

/// A string of several derivations is as probable as all of them together.
TEST(Grammar, TheProbabilitiesOfAllStringsAddUpToOne) {
  for (const int64_t levels : {1, 2}) {
    const Grammar grammar({.grammar = GrammarName::cfg3f, .levels = levels});
    Random random(1);
    std::map<String, int64_t> drawn;
    constexpr int64_t kDraws = 20'000;
    for (int64_t i = 0; i < kDraws; ++i) ++drawn[grammar.draw(random)];
    double sum = 0;
    for (const auto& [string, count] : drawn) {
      const double probability = std::exp(grammar.log_probability(string));
      sum += probability;
      const double spread = std::sqrt(probability / kDraws);
      EXPECT_NEAR(static_cast<double>(count) / kDraws, probability, 5 * spread);
    }
    EXPECT_NEAR(sum, 1, 1e-9) << levels;
  }
}

/// golden/grammar_probabilities.py has them from the code of the grammars' authors.
TEST(Grammar, GivesStringsTheProbabilitiesOfItsAuthors) {
  std::ifstream file(std::string(ABLATE_SOURCE) +
                     "/tests/data/tasks/golden/grammar_probabilities.tsv");
  std::set<std::string> seen;
  std::string name, digits;
  for (double wanted = 0; file >> name >> digits >> wanted; seen.insert(name)) {
    const Grammar grammar({.grammar = named(name), .levels = {}});
    EXPECT_NEAR(grammar.log_probability(string_of(digits)), wanted, 1e-6) << name;
  }
  EXPECT_EQ(seen.size(), names(GrammarName{}).size());
}

TEST(Grammar, ItsTextKnowsItsProbability) {
  const Lano task{.levels = 2, .examples = {.train = 5, .validation = 3, .test = 4}};
  const auto corpus = load(task, ".", 1);
  EXPECT_EQ(corpus.train.size(), 5U);
  EXPECT_EQ(corpus.validation.size(), 3U);
  const auto& test = corpus.tests.front();
  ASSERT_EQ(test.examples.size(), 4U);
  double nats = 0;
  for (const auto& line : test.examples) {
    std::string digits;
    for (const char letter : line.target)
      if (letter != ' ') digits += letter;
    nats -= Grammar(task).log_probability(string_of(digits));
  }
  EXPECT_NEAR(test.nats.value(), nats, 1e-9);
  EXPECT_EQ(test.examples, load(task, ".", 1).tests.front().examples);
  EXPECT_NE(test.examples, load(task, ".", 2).tests.front().examples);
}

}  // namespace
}  // namespace ablate::data
