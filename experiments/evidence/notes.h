#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/config/study.h"
#include "experiments/evidence/evidence.h"
#include "experiments/result.h"

namespace ablate::experiments {

/// What limits the evidence and how it was scored, a sentence each.
std::vector<std::string> notes_of(const Evidence& evidence, const Study& study,
                                  std::span<const RunResult> results);

}  // namespace ablate::experiments
