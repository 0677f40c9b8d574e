#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/data/tasks/generated.h"

namespace ablate::data {
namespace {

const Capo kSmall{
    .people = 12, .versions = 3, .templates = 4, .names = {3, 10}, .values = {2, 5, 7}};

/// The words of an attribute's template or value: those at even or odd places.
std::vector<std::string> every_second(const std::string& text, size_t first) {
  const auto all = words(text);
  std::vector<std::string> some;
  for (size_t place = first; place < all.size(); place += 2) some.push_back(all[place]);
  return some;
}

TEST(Biographies, SayTheSameOfAPersonInOtherWords) {
  const auto corpus = load(kSmall, ".", 1);
  std::map<std::string, std::set<std::vector<std::string>>> values, templates;
  const auto read = [&](const std::vector<Example>& set) {
    for (const auto& [name, text, tokens] : set) {
      EXPECT_EQ(every_second(text, 0).size(), 3U) << text;
      templates[name].insert(every_second(text, 0));
      values[name].insert(every_second(text, 1));
    }
  };
  read(corpus.train);
  read(corpus.validation);
  read(corpus.tests.front().examples);
  EXPECT_EQ(values.size(), 12U) << "everyone has a name of their own";
  for (const auto& [name, found] : values) EXPECT_EQ(found.size(), 1U) << name;
  for (const auto& [name, found] : templates) EXPECT_GE(found.size(), 2U) << name;
}

TEST(Biographies, OfAPersonAreAsManyAsAsked) {
  const auto corpus = load(kSmall, ".", 1);
  std::map<std::string, int64_t> times;
  for (const auto& example : corpus.train) ++times[example.source];
  for (const auto& [name, count] : times) EXPECT_EQ(count, 3) << name;
  EXPECT_EQ(corpus.validation.size(), 12U);
  EXPECT_EQ(corpus.tests.front().examples.size(), 12U);
}

TEST(Biographies, TheirProbabilityIsThatOfTheDrawnWords) {
  const auto test = load(kSmall, ".", 1).tests.front();
  EXPECT_NEAR(test.nats.value(), 12 * std::log(2 * 5 * 7 * 4 * 4 * 4), 1e-9);
  const Capo published{.people = 10, .templates = 1};
  EXPECT_NEAR(load(published, ".", 1).tests.front().nats.value() / 10 / std::log(2), 47.6, 0.05);
}

}  // namespace
}  // namespace ablate::data
