#pragma once

#include <concepts>

#include "data/corpus.h"
#include "data/tasks/task_generator.h"

namespace ablate::data {

/// A task whose examples are drawn at random and not read or listed.
template <class Task>
concept Generated = requires(const Task& task) {
  { task.generator() } -> std::same_as<TaskGenerator>;
};

/// Makes a generated task's corpus. Evaluation sets are drawn first, without repeats, and kept out
/// of training, whose examples may repeat. Where a length has few sources, an evaluation set gets
/// no more than half of those that are left of it, so that every trained length is trained; the set
/// may then be smaller than asked for. Throws DataError where the space is too small for one
/// example in each set.
Corpus generate(const TaskGenerator& task, uint64_t seed);

}  // namespace ablate::data
