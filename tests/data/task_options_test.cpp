#include "data/task_options.h"

#include <gtest/gtest.h>

#include <set>

namespace ablate::data {
namespace {

TEST(TaskOptions, ATestSizeMayBeNamedOnce) {
  const auto broken = [](const auto& options) {
    std::set<std::string> keys;
    options.rules(options, [&](bool holds, std::string_view key, std::string_view) {
      if (!holds) keys.emplace(key);
    });
    return keys;
  };
  Copy copy;
  EXPECT_TRUE(broken(copy).empty());
  copy.test_length = {12, 13, 12};
  EXPECT_EQ(broken(copy), std::set<std::string>{"test_length"});
  Numbers numbers;
  EXPECT_TRUE(broken(numbers).empty());
  numbers.test_digits = {4, 4};
  EXPECT_EQ(broken(numbers), std::set<std::string>{"test_digits"});
}

}  // namespace
}  // namespace ablate::data
