#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {

/// The first test set's cell of `metric` that is not longer than anything in training; null where
/// there is none.
const Cell* cell_within(const ArmEvidence& arm, const std::string& metric);

/// Marks the cells that claims are made of: the task's metric on the test sets that `comparison`
/// names for it, else on those within the trained length, else, where nothing is, on all. A metric
/// of training or validation has one cell.
void mark_primary(TaskEvidence& task, const config::Comparison& comparison);

/// Compares every arm of the task with its baseline: contrasts, tests, Holm's correction over the
/// family, verdicts. The family is every arm of the study's file beside a baseline on every primary
/// test set, whether it is selected and finished or not. REQUIRES: mark_primary() was called.
void add_claims(TaskEvidence& task, const config::Study& study);

/// Adds what BLEU and chrF of the outputs in the study's folder say, each seed of each arm beside
/// the baseline's. Only in tasks that are read from text files: generated ones hold no language.
void add_sentence_tests(TaskEvidence& task, const config::Study& study,
                        const records::StudyFolder& folder);

}  // namespace ablate::analysis
