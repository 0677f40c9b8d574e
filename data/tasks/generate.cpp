#include "data/tasks/generate.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>

#include "data/random.h"

namespace ablate::data {
namespace {

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
std::vector<Example> new_half(int64_t wanted, std::unordered_set<std::string>& taken,
                              const std::function<Example()>& draw) {
  auto probe = taken;
  auto found = distinct(2 * wanted, probe, draw);
  found.resize(std::min((found.size() + 1) / 2, static_cast<size_t>(wanted)));
  for (const auto& example : found) taken.insert(example.source);
  return found;
}

[[noreturn]] void refuse_small_space(const TaskGenerator& task, uint64_t seed) {
  Random random(seed, "space");
  std::unordered_set<std::string> all;
  distinct(100, all, [&] { return task.sample_training(random); });
  throw DataError("the task has only " + std::to_string(all.size()) +
                  " different training sources, too few to hold some out for validation and test; "
                  "widen its trained lengths or its symbols");
}

std::vector<Example> training_set(const TaskGenerator& task, uint64_t seed,
                                  const std::unordered_set<std::string>& held_out) {
  Random random(seed, "train");
  std::vector<Example> examples;
  int64_t refused = 0;
  while (static_cast<int64_t>(examples.size()) < task.sizes.train) {
    auto example = task.sample_training(random);
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
  std::unordered_set<std::string> held_out;
  for (const int64_t length : task.test_lengths) {
    Random random(seed, "test", static_cast<uint64_t>(length));
    TestSet test{task.test_name(length), length > task.longest_trained, {}};
    test.examples =
        new_half(task.sizes.test, held_out, [&] { return task.sample(random, length); });
    if (test.examples.empty()) refuse_small_space(task, seed);
    corpus.tests.push_back(std::move(test));
  }
  Random validation(seed, "validation");
  corpus.validation =
      new_half(task.sizes.validation, held_out, [&] { return task.sample_training(validation); });
  if (corpus.validation.empty()) refuse_small_space(task, seed);
  corpus.train = training_set(task, seed, held_out);
  return corpus;
}

}  // namespace ablate::data
