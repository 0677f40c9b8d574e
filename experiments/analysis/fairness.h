#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// Arms of a task that are compared have seen the same data and as many steps, and those with a
/// budget in seconds ran on the same hardware. Throws UsageError where they have not and the
/// study's compare.allow does not name it; a run that may stop early is free to. A run that was
/// only evaluated counts with the steps of the run that it started from.
void check_fair(const config::Study& study, std::span<const records::RunResult> results);

/// Adds a note on each thing that scores of a test set hide: unknown tokens, outputs that were cut,
/// references that a tokenizer does not write as they are. Each names the arms that have it, with
/// the largest number of their seeds.
void add_test_flaws(std::span<const records::RunResult> results, std::vector<std::string>& notes);

}  // namespace ablate::analysis
