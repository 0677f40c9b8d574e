#include "tokenizer/text/from_chars.h"

#include <locale.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace ablate::tokenizer {
namespace {

locale_t plain_locale() {
  static const locale_t found = newlocale(LC_ALL_MASK, "C", nullptr);
  return found;
}

double to_number(const char* text, char** end, double) {
  return strtod_l(text, end, plain_locale());
}
float to_number(const char* text, char** end, float) { return strtof_l(text, end, plain_locale()); }

/// strtod also takes white space, a plus, and numbers in base 16, of which std::from_chars reads
/// the leading 0.
template <class Number>
std::from_chars_result parse(const char* first, const char* last, Number& value) {
  std::string text(first, last);
  if (text.find_first_of(" \t\n\v\f\r+") == 0) return {first, std::errc::invalid_argument};
  const size_t zero = text.starts_with('-') ? 1 : 0;
  if (text.find_first_of("xX") == zero + 1 && text[zero] == '0') text.resize(zero + 1);
  char* end = nullptr;
  errno = 0;
  const Number read = to_number(text.c_str(), &end, value);
  if (end == text.c_str()) return {first, std::errc::invalid_argument};
  const char* stop = first + (end - text.c_str());
  if (errno == ERANGE && (read == 0 || std::isinf(read)))
    return {stop, std::errc::result_out_of_range};
  value = read;
  return {stop, std::errc()};
}

}  // namespace

std::from_chars_result floating_from_chars(const char* first, const char* last, double& value) {
  return parse(first, last, value);
}

std::from_chars_result floating_from_chars(const char* first, const char* last, float& value) {
  return parse(first, last, value);
}

}  // namespace ablate::tokenizer
