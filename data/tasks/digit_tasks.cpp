#include "data/tasks/digit_tasks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "data/tasks/generate.h"

namespace ablate::data {
namespace {

using Words = std::string_view;

std::string side_by_side(std::string words, std::string_view separator, const std::string& more) {
  return words.empty() || more.empty() ? words + more : words.append(separator).append(more);
}

namespace english {

constexpr std::array<Words, 20> kSmall = {
    "",         "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<Words, 10> kTens = {"",      "",      "twenty",  "thirty", "forty",
                                         "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::pair<int64_t, Words>, 4> kScales = {{{1'000'000'000'000, " trillion"},
                                                               {1'000'000'000, " billion"},
                                                               {1'000'000, " million"},
                                                               {1'000, " thousand"}}};

/// Below 1,000; empty for 0.
std::string part(size_t number) {
  if (number >= 100)
    return side_by_side(std::string(kSmall[number / 100]) + " hundred", " ", part(number % 100));
  if (number >= 20) return side_by_side(std::string(kTens[number / 10]), "-", part(number % 10));
  return std::string(kSmall[number]);
}

std::string words(int64_t number) {
  if (number == 0) return "zero";
  std::string text;
  for (const auto& [value, name] : kScales) {
    if (number >= value)
      text = side_by_side(text, " ", part(static_cast<size_t>(number / value)).append(name));
    number %= value;
  }
  return side_by_side(text, " ", part(static_cast<size_t>(number)));
}

}  // namespace english

namespace german {

constexpr std::array<Words, 20> kSmall = {
    "",         "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
    "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
    "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<Words, 10> kTens = {"",        "",        "zwanzig", "dreißig", "vierzig",
                                         "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};
struct Scale {
  int64_t value;
  Words one, many;
};
constexpr std::array<Scale, 3> kScales = {{{1'000'000'000'000, "Billion", "Billionen"},
                                           {1'000'000'000, "Milliarde", "Milliarden"},
                                           {1'000'000, "Million", "Millionen"}}};

/// Below 1,000; empty for 0. A one at the end is `one`.
std::string part(size_t number, Words one) {
  const auto small = [&](size_t digit) { return std::string(digit == 1 ? one : kSmall[digit]); };
  if (number >= 100) {
    const auto hundreds = number / 100;
    return std::string(hundreds == 1 ? "ein" : kSmall[hundreds]) + "hundert" +
           part(number % 100, one);
  }
  if (number < 20) return small(number);
  const auto ones = number % 10;
  std::string first = ones == 0 ? "" : std::string(ones == 1 ? "ein" : kSmall[ones]) + "und";
  return first.append(kTens[number / 10]);
}

std::string words(int64_t number) {
  if (number == 0) return "null";
  std::string text;
  for (const auto& [value, one, many] : kScales) {
    const auto count = static_cast<size_t>(number / value);
    if (count > 0)
      text = side_by_side(
          text, " ", side_by_side(part(count, "eine"), " ", std::string(count == 1 ? one : many)));
    number %= value;
  }
  const auto thousands = static_cast<size_t>(number / 1000),
             rest = static_cast<size_t>(number % 1000);
  const auto below = (thousands > 0 ? part(thousands, "ein") + "tausend" : "") + part(rest, "eins");
  return side_by_side(text, " ", below);
}

}  // namespace german
}  // namespace

std::string spell_out(int64_t number, NumberLanguage language) {
  switch (language) {
    case NumberLanguage::en:
      return english::words(number);
    case NumberLanguage::de:
      return german::words(number);
  }
  return {};
}

namespace {

int64_t power_of_ten(int64_t exponent) {
  int64_t power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// A number of exactly `digits` digits; a single digit may be 0.
int64_t number(Random& random, int64_t digits) {
  return random.between(digits == 1 ? 0 : power_of_ten(digits - 1), power_of_ten(digits) - 1);
}

TaskGenerator sampled_by_digits(const DigitTask& task,
                                std::function<Example(Random&, int64_t)> sample) {
  return {.draw_length =
              [=](Random& random) {
                // Most numbers are long; a quarter of the draws makes every count of digits as
                // likely.
                const int64_t any = random.below(power_of_ten(task.train_digits));
                const auto natural = static_cast<int64_t>(std::to_string(any).size());
                const bool even = random.below(4) == 0;
                return even ? random.between(1, task.train_digits) : natural;
              },
          .sample = std::move(sample),
          .test_lengths = task.test_digits,
          .longest_trained = task.train_digits,
          .test_name = DigitTask::test_name,
          .unit = DigitTask::unit,
          .sizes = task.examples};
}

std::string spaced(int64_t value, bool reversed) {
  auto written = std::to_string(value);
  if (reversed) std::ranges::reverse(written);
  std::string text;
  for (const char digit : written) (text += text.empty() ? "" : " ") += digit;
  return text;
}

}  // namespace

TaskGenerator Addition::generator() const {
  return sampled_by_digits(*this, [reversed = reversed](Random& random, int64_t size) {
    int64_t left = number(random, size), right = number(random, random.between(1, size));
    if (random.below(2) == 0) std::swap(left, right);
    return Example{spaced(left, false) + " + " + spaced(right, false),
                   spaced(left + right, reversed)};
  });
}

TaskGenerator Numbers::generator() const {
  return sampled_by_digits(*this, [from = source, to = target](Random& random, int64_t size) {
    const int64_t value = number(random, size);
    return Example{spell_out(value, from), spell_out(value, to)};
  });
}

}  // namespace ablate::data
