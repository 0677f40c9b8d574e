#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"

namespace ablate::analysis {

/// The cell of `metric` on the first test set within the trained length; null if the arm has
/// no such cell.
const Cell* cell_within(const ArmEvidence& arm, const std::string& metric);

/// The arms that the study's file compares with the baseline, selected or not, and the setting's.
std::set<std::string> compared_arms(const TaskEvidence& setting, const config::Study& study);

/// Why no claim is made beyond the trained length; absent if both arms learned the task.
std::optional<NoClaim> not_learned(const ArmEvidence& arm, const ArmEvidence& baseline);

/// Marks the cells of claims: the task's metric over its lengths if `comparison` asks for it, else
/// on the test sets that it names for the task, else on those within the trained length, or on all
/// if every one is longer. A metric of training or validation has one cell.
void mark_primary(TaskEvidence& task, const config::Comparison& comparison);

/// Compares every arm of the settings of one declared task with its baseline in the same setting:
/// contrasts, tests corrected over the family, verdicts. The family is every comparison of an arm
/// of the study's file with its baseline on a primary test set in a setting of the task, even if
/// the arm or the setting is not selected or not finished. REQUIRES: mark_primary() was called.
void add_claims(std::span<TaskEvidence> settings, const config::Study& study, int64_t look = 0);

/// Whether no further seed is needed: every primary comparison but those of a control has a claim,
/// or can have none because its values are not finite.
bool is_decided(const Evidence& evidence);

}  // namespace ablate::analysis
