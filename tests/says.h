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

/// The text with `now` in the place of the first `before`, which it must have.
inline std::string replaced(std::string text, std::string_view before, std::string_view now) {
  return text.replace(text.find(before), before.size(), now);
}

/// The text with `now` in the place of every `before`.
inline std::string replaced_everywhere(std::string text, std::string_view before,
                                       std::string_view now) {
  for (size_t at = 0; (at = text.find(before, at)) != text.npos; at += now.size())
    text.replace(at, before.size(), now);
  return text;
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
