#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/records/result.h"

namespace ablate::analysis {

/// Adds a note on each thing that scores of a test set hide: unknown tokens, outputs that were cut,
/// references that a tokenizer does not write as they are. Each names the arms that have it, with
/// the largest number of their seeds.
void add_test_flaws(std::span<const records::RunResult> results, std::vector<std::string>& notes);

}  // namespace ablate::analysis
