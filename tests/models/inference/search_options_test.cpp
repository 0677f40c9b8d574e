#include "models/inference/search_options.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "options/record.h"

namespace ablate::models {
namespace {

template <class Options>
std::vector<std::string> broken(const Options& options) {
  std::vector<std::string> keys;
  check(options::slot_of(options), [&](bool holds, std::string_view key, std::string_view) {
    if (!holds) keys.emplace_back(key);
  });
  return keys;
}

TEST(SearchOptions, TheDefaultsKeepTheRules) {
  EXPECT_TRUE(broken(SearchOptions()).empty());
  EXPECT_TRUE(broken(RandomSampling()).empty());
}

/// Every number of `options` in turn, set to `value`, breaks a rule that is named for it.
template <class Options>
void expect_refused(double value) {
  const Options defaults;
  Options::fields(defaults, [&](std::string_view name, const auto&, auto&&...) {
    Options changed;
    bool number = false;
    Options::fields(changed, [&]<class T>(std::string_view other, T& slot, auto&&...) {
      if constexpr (std::is_arithmetic_v<T>)
        if (other == name) {
          slot = static_cast<T>(value);
          number = true;
        }
    });
    if (!number) return;
    const auto keys = broken(changed);
    EXPECT_NE(std::ranges::find(keys, name), keys.end()) << name;
  });
}

TEST(SearchOptions, EveryNumberHasARange) {
  expect_refused<SearchOptions>(-1);
  expect_refused<RandomSampling>(-1);
}

TEST(SearchOptions, IdsOfTokensHaveNoDefault) {
  EXPECT_FALSE(std::is_default_constructible_v<SpecialTokens>);
}

}  // namespace
}  // namespace ablate::models
