#pragma once

#include <optional>
#include <string>

#include "data/corpus.h"

namespace ablate::data {

/// The name of a test set that by its content is the validation set or a part of it, or of which
/// this is a part: at least half of the different examples of the smaller one are in the other, too
/// (lines of running text, or runs of 16 words or tokens), wherever they stand in it, however many
/// spaces are between their words, and whatever file they come from. Only the scored tokens count.
/// nullopt if there is no such set.
std::optional<std::string> test_in_validation(const Corpus& corpus, const DataOptions& options);

/// The remedy for such a set: kOwnTest, or for a task without files to leave the choice out.
const char* own_test(const DataOptions& options);

}  // namespace ablate::data
