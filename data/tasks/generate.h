#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/random.h"

namespace ablate::data {

/// How one task makes examples; everything else (disjointness, sizes, naming) is shared.
struct TaskGenerator {
  std::function<int64_t(Random&)> draw_length;      // a trained one
  std::function<Example(Random&, int64_t)> sample;  // of exactly this length
  std::vector<int64_t> test_lengths;
  int64_t longest_trained;
  std::string (*test_name)(int64_t length);
  std::string unit;  // of lengths
  Sizes sizes;
};

/// A task whose examples are drawn at random and not read or listed.
template <class Task>
concept Generated = requires(const Task& task) {
  { task.generator() } -> std::same_as<TaskGenerator>;
};

/// Makes a generated task's corpus. Evaluation sets are drawn first, without repeats, and kept out
/// of training, whose examples may repeat. If a length has few sources, an evaluation set gets at
/// most half of the remaining ones, so that every trained length has training examples; the set may
/// then be smaller than requested. Throws DataError if the space is too small for one example in
/// each set.
Corpus generate(const TaskGenerator& task, uint64_t seed);

}  // namespace ablate::data
