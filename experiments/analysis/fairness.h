#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// Checks that compared arms of a task trained on the same data for the same number of steps, and
/// with a budget in seconds on the same hardware. Throws UsageError if they differ and the study's
/// compare.allow does not name it. Runs that may stop early may have fewer steps. A run that was
/// only evaluated has the steps of the run that it started from.
void check_fair(const config::Study& study, std::span<const records::RunResult> results);

/// Adds a note for each flaw of a test set: unknown tokens, outputs that were cut, references that
/// the tokenizer changes. A note names the arms with the flaw, with the largest number of their
/// seeds.
void add_test_flaws(std::span<const records::RunResult> results, std::vector<std::string>& notes);

/// Adds a note for each task whose arms differ in size although tables of tokens are more than a
/// third of a model: their sizes without these tables.
void add_token_tables(const Evidence& evidence, std::vector<std::string>& notes);

/// Adds a note for each task with arms that `match` was to give the baseline's size and that have
/// another one, since the vocabulary was not known when their keys were solved for.
void add_unequal_sizes(const Evidence& evidence, const config::Study& study,
                       std::vector<std::string>& notes);

}  // namespace ablate::analysis
