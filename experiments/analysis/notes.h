#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// Sentences on the limits of the evidence and on its scores.
std::vector<std::string> notes_of(const Evidence& evidence, const config::Study& study,
                                  std::span<const records::RunResult> results);

}  // namespace ablate::analysis
