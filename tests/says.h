#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ablate {

/// Whether the text has these words; a failure prints both.
inline testing::AssertionResult says(std::string_view text, std::string_view words) {
  if (text.find(words) == text.npos)
    return testing::AssertionFailure() << "'" << words << "' is not in\n" << text;
  return testing::AssertionSuccess() << "'" << words << "' is in\n" << text;
}

/// How often the text has these words.
inline size_t occurrences(std::string_view text, std::string_view words) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(words, at)) != text.npos; ++at) ++found;
  return found;
}

/// What the error says that an action ends with, or `otherwise` if it ends well.
template <class Error, class Action>
std::string refusal_of(Action&& action, const std::string& otherwise = "") {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return otherwise;
}

}  // namespace ablate
