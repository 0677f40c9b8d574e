#include <algorithm>

#include "data/tasks/spell_out.h"
#include "data/tasks/task_generator.h"

namespace ablate::data {
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
