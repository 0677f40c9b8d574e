#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/analysis/evidence.h"
#include "experiments/config/study/study.h"
#include "experiments/records/result.h"

namespace ablate::analysis {

/// What limits the evidence and how it was scored, a sentence each.
std::vector<std::string> notes_of(const Evidence& evidence, const config::Study& study,
                                  std::span<const records::RunResult> results);

}  // namespace ablate::analysis
