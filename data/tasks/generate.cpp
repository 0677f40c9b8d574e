#include "data/tasks/generate.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "data/random.h"
#include "data/tasks/spell_out.h"

namespace ablate::data {
namespace {

/// How one task makes examples; everything else (disjointness, sizes, naming) is shared.
struct Source {
  std::function<Example(Random&)> train;             // any trained length
  std::function<Example(Random&, int64_t)> of_size;  // exactly this length
  std::vector<int64_t> test_sizes;
  int64_t largest_trained;
  std::string unit;  // "length 13" puts it in front, "5 digits" behind
  Sizes sizes;
};

/// Draws until `count` examples with new sources are found. A space that seems exhausted (many
/// repeats in a row) gives fewer.
std::vector<Example> distinct(int64_t count, std::unordered_set<std::string>& taken,
                              const std::function<Example()>& draw) {
  std::vector<Example> examples;
  int64_t repeats = 0;
  const int64_t patience = 200 + 20 * count;
  while (static_cast<int64_t>(examples.size()) < count && repeats < patience) {
    auto example = draw();
    if (taken.insert(example.source).second) {
      examples.push_back(std::move(example));
      repeats = 0;
    } else {
      ++repeats;
    }
  }
  return examples;
}

/// Up to `wanted` new examples and no more than half of those that `draw` still finds, so that a
/// small space (numbers of one digit) keeps something for the sets drawn later. Adds to `taken`.
std::vector<Example> share(int64_t wanted, std::unordered_set<std::string>& taken,
                           const std::function<Example()>& draw) {
  auto probe = taken;
  auto found = distinct(2 * wanted, probe, draw);
  found.resize(std::min((found.size() + 1) / 2, static_cast<size_t>(wanted)));
  for (const auto& example : found) taken.insert(example.source);
  return found;
}

std::string name_of(const Source& source, int64_t size) {
  if (source.unit == "digits") return std::to_string(size) + (size == 1 ? " digit" : " digits");
  return source.unit + " " + std::to_string(size);
}

[[noreturn]] void refuse_small_space(const Source& source, uint64_t seed) {
  Random random(seed, "space");
  std::unordered_set<std::string> all;
  distinct(100, all, [&] { return source.train(random); });
  throw DataError("the task has only " + std::to_string(all.size()) +
                  " different training sources, too few to hold some out for validation and test; "
                  "widen its trained lengths or its symbols");
}

std::vector<Example> training_set(const Source& source, uint64_t seed,
                                  const std::unordered_set<std::string>& held_out) {
  Random random(seed, "train");
  std::vector<Example> examples;
  int64_t refused = 0;
  while (static_cast<int64_t>(examples.size()) < source.sizes.train) {
    auto example = source.train(random);
    if (!held_out.contains(example.source))
      examples.push_back(std::move(example));
    else if (++refused > 1000 + 100 * source.sizes.train)
      refuse_small_space(source, seed);
  }
  return examples;
}

/// Evaluation sets are drawn first, without repeats, and kept out of training, whose examples may
/// repeat.
Corpus assemble(const Source& source, uint64_t seed) {
  Corpus corpus;
  std::unordered_set<std::string> held_out;
  for (const int64_t size : source.test_sizes) {
    Random random(seed, "test", static_cast<uint64_t>(size));
    TestSet test{name_of(source, size), size > source.largest_trained, {}};
    test.examples =
        share(source.sizes.test, held_out, [&] { return source.of_size(random, size); });
    if (test.examples.empty()) refuse_small_space(source, seed);
    corpus.tests.push_back(std::move(test));
  }
  Random validation(seed, "validation");
  corpus.validation =
      share(source.sizes.validation, held_out, [&] { return source.train(validation); });
  if (corpus.validation.empty()) refuse_small_space(source, seed);
  corpus.train = training_set(source, seed, held_out);
  return corpus;
}

std::string symbol(int64_t index) {
  if (index < 26) return {static_cast<char>('a' + index)};
  return "s" + std::to_string(index + 1);
}

std::string join(const std::vector<int64_t>& symbols) {
  std::string text;
  for (const int64_t index : symbols) text += (text.empty() ? "" : " ") + symbol(index);
  return text;
}

using Rewrite = void (*)(std::vector<int64_t>&);

Source symbols(const SymbolTask& task, Rewrite rewrite) {
  const auto of_size = [=](Random& random, int64_t length) {
    std::vector<int64_t> drawn(static_cast<size_t>(length));
    for (auto& one : drawn) one = random.below(task.symbols);
    Example example{join(drawn), {}};
    rewrite(drawn);
    example.target = join(drawn);
    return example;
  };
  const auto [shortest, longest] = task.train_length;
  return {.train = [=, low = shortest, high = longest](
                       Random& random) { return of_size(random, random.between(low, high)); },
          .of_size = of_size,
          .test_sizes = task.test_length,
          .largest_trained = longest,
          .unit = "length",
          .sizes = task.examples};
}

int64_t power_of_ten(int64_t exponent) {
  int64_t power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// A number of exactly `digits` digits; a single digit may be 0.
int64_t number(Random& random, int64_t digits) {
  return random.between(digits == 1 ? 0 : power_of_ten(digits - 1), power_of_ten(digits) - 1);
}

Source digits(const DigitTask& task, std::function<Example(Random&, int64_t)> of_size) {
  return {.train =
              [=](Random& random) {
                // Most numbers are long; a quarter of the draws makes every count of digits as
                // likely.
                const int64_t any = random.below(power_of_ten(task.train_digits));
                const auto natural = static_cast<int64_t>(std::to_string(any).size());
                const bool even = random.below(4) == 0;
                return of_size(random, even ? random.between(1, task.train_digits) : natural);
              },
          .of_size = of_size,
          .test_sizes = task.test_digits,
          .largest_trained = task.train_digits,
          .unit = "digits",
          .sizes = task.examples};
}

std::string spaced(int64_t value, bool reversed) {
  auto written = std::to_string(value);
  if (reversed) std::ranges::reverse(written);
  std::string text;
  for (const char digit : written) (text += text.empty() ? "" : " ") += digit;
  return text;
}

struct Maker {
  Source operator()(const Copy& task) const {
    return symbols(task, [](std::vector<int64_t>&) {});
  }
  Source operator()(const Reverse& task) const {
    return symbols(task, [](std::vector<int64_t>& all) { std::ranges::reverse(all); });
  }
  Source operator()(const Sort& task) const {
    return symbols(task, [](std::vector<int64_t>& all) { std::ranges::sort(all); });
  }
  Source operator()(const Addition& task) const {
    return digits(task, [task](Random& random, int64_t size) {
      int64_t left = number(random, size), right = number(random, random.between(1, size));
      if (random.below(2) == 0) std::swap(left, right);
      return Example{spaced(left, false) + " + " + spaced(right, false),
                     spaced(left + right, task.reversed)};
    });
  }
  Source operator()(const Numbers& task) const {
    const auto from = std::make_shared<SpellOut>(task.source);
    const auto to = std::make_shared<SpellOut>(task.target);
    return digits(task, [from, to](Random& random, int64_t size) {
      const int64_t value = number(random, size);
      return Example{(*from)(value), (*to)(value)};
    });
  }
  Source operator()(const Text&) const { throw DataError("text is read, not generated"); }
};

}  // namespace

Corpus generate(const DataOptions& options, uint64_t seed) {
  return assemble(std::visit(Maker{}, options), seed);
}

}  // namespace ablate::data
