#pragma once

#include <charconv>
#include <concepts>
#include <string_view>

namespace ablate::tokenizer {

/// What std::from_chars does with a floating-point number, in any locale; GCC 10's library has only
/// that of integers.
std::from_chars_result floating_from_chars(const char* first, const char* last, double& value);
std::from_chars_result floating_from_chars(const char* first, const char* last, float& value);

/// std::from_chars, with any library of C++20.
template <class Number>
std::from_chars_result from_chars(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
#ifndef __cpp_lib_to_chars
  if constexpr (std::floating_point<Number>)
    return floating_from_chars(text.data(), end, value);
  else
#endif
    return std::from_chars(text.data(), end, value);
}

}  // namespace ablate::tokenizer
