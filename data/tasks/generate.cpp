#include "data/tasks/generate.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "data/random.h"

namespace ablate::data {
namespace {

using Taken = std::unordered_set<std::string>;  // sources

/// An example and the length it was drawn with.
struct Drawn {
  Example example;
  int64_t length;
};

/// Draws the examples of one set.
struct Source {
  const TaskGenerator& task;
  Random random;
  std::optional<int64_t> length = {};  // nullopt: any trained one

  Drawn of(int64_t size) { return {task.sample(random, size), size}; }
  Drawn any() { return of(length ? *length : task.draw_length(random)); }
};

/// Draws until `count` examples with new sources are found. Returns fewer if the space seems
/// exhausted (many repeats in a row).
std::vector<Drawn> distinct(int64_t count, Taken& taken, const std::function<Drawn()>& draw) {
  std::vector<Drawn> found;
  int64_t repeats = 0;
  const int64_t patience = 200 + 20 * count;
  while (static_cast<int64_t>(found.size()) < count && repeats < patience) {
    auto drawn = draw();
    if (taken.insert(drawn.example.source).second) {
      found.push_back(std::move(drawn));
      repeats = 0;
    } else {
      ++repeats;
    }
  }
  return found;
}

/// How many examples of each length among `found` a set may hold: half of those that `source` still
/// finds of this length, rounded up unless that is all.
std::map<int64_t, int64_t> halves_of(const std::vector<Drawn>& found, Source& source,
                                     const Taken& taken) {
  std::map<int64_t, int64_t> halves;
  for (const auto& drawn : found) ++halves[drawn.length];
  for (auto& [length, count] : halves) {
    auto probe = taken;
    const auto all = distinct(2 * count, probe, [&, one = length] { return source.of(one); });
    const auto most = std::max(count, static_cast<int64_t>(all.size()));
    count = most == 1 ? 0 : (most + 1) / 2;
  }
  return halves;
}

/// Up to `wanted` new examples and no more than half of those that each length still has, so that a
/// small space (numbers of one digit, strings of one symbol) keeps something for the sets drawn
/// later. Adds to `taken`.
std::vector<Example> new_half(int64_t wanted, Source source, Taken& taken) {
  auto probe = taken;
  auto found = distinct(2 * wanted, probe, [&] { return source.any(); });
  auto halves = halves_of(found, source, taken);
  std::vector<Example> half;
  for (auto& [example, length] : found) {
    if (static_cast<int64_t>(half.size()) == wanted) break;
    if (halves.at(length)-- <= 0) continue;
    taken.insert(example.source);
    half.push_back(std::move(example));
  }
  return half;
}

[[noreturn]] void refuse_small_space(const TaskGenerator& task, uint64_t seed) {
  Source source{task, Random(seed, "space")};
  Taken all;
  distinct(100, all, [&] { return source.any(); });
  throw DataError("the task has only " + std::to_string(all.size()) +
                  " different training sources, too few to hold some out for validation and test; "
                  "widen its trained lengths or its symbols");
}

std::vector<Example> training_set(const TaskGenerator& task, uint64_t seed, const Taken& held_out) {
  Source source{task, Random(seed, "train")};
  std::vector<Example> examples;
  int64_t refused = 0;
  while (static_cast<int64_t>(examples.size()) < task.sizes.train) {
    auto example = source.any().example;
    if (!held_out.contains(example.source))
      examples.push_back(std::move(example));
    else if (++refused > 1000 + 100 * task.sizes.train)
      refuse_small_space(task, seed);
  }
  return examples;
}

}  // namespace

Corpus generate(const TaskGenerator& task, uint64_t seed) {
  Corpus corpus;
  Taken held_out;
  for (const int64_t length : task.test_lengths) {
    const Random random(seed, "test", static_cast<uint64_t>(length));
    TestSet test{.name = task.test_name(length),
                 .length = length,
                 .unit = task.unit,
                 .extrapolates = length > task.longest_trained};
    test.examples = new_half(task.sizes.test, {task, random, length}, held_out);
    if (test.examples.empty()) refuse_small_space(task, seed);
    corpus.tests.push_back(std::move(test));
  }
  corpus.validation = new_half(task.sizes.validation, {task, Random(seed, "validation")}, held_out);
  if (corpus.validation.empty()) refuse_small_space(task, seed);
  corpus.train = training_set(task, seed, held_out);
  return corpus;
}

}  // namespace ablate::data
