#include "experiments/analysis/fairness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "experiments/records/exit_code.h"
#include "experiments/records/folders.h"

namespace ablate::analysis {
namespace {

std::string run_name(const records::RunResult& run) {
  return records::label(run.task, run.arm, run.seed);
}

/// Whether something else than a number of steps ends the run: patience, or a budget in another
/// unit, which is the same for all arms.
bool ends_otherwise(const config::Study& study, const records::RunResult& result) {
  return std::ranges::any_of(study.runs, [&](const config::RunSpecification& run) {
    const auto& options = run.experiment.training;
    return run.task == result.task && run.arm == result.arm &&
           (options.patience > 0 || !std::holds_alternative<training::StepBudget>(options.budget));
  });
}

/// Whether the run's updates follow from how fast its machine is.
bool is_timed(const config::Study& study, const records::RunResult& result) {
  return std::ranges::any_of(study.runs, [&](const config::RunSpecification& run) {
    return run.task == result.task && run.arm == result.arm &&
           std::holds_alternative<training::TimeBudget>(run.experiment.training.budget);
  });
}

[[noreturn]] void refuse_comparison(const records::RunResult& one, const records::RunResult& other,
                                    const std::string& what, const std::string& name) {
  throw records::UsageError(fmt::format(
      "{} and {} {}; they cannot be compared. If the difference is meant, say so in the study: "
      "compare: {{ allow: [{}] }}",
      run_name(one), run_name(other), what, name));
}

}  // namespace

void check_fair(const config::Study& study, std::span<const records::RunResult> results) {
  if (!study.compare) return;
  std::map<std::string, const records::RunResult*> first;
  for (const auto& result : results) {
    const auto& other = *first.try_emplace(result.task, &result).first->second;
    if (!config::allows(*study.compare, config::Uneven::data) && !result.data_sha256.empty() &&
        !other.data_sha256.empty() && result.data_sha256 != other.data_sha256)
      refuse_comparison(other, result, "saw different data", "data");
    if (!config::allows(*study.compare, config::Uneven::steps) && result.steps != other.steps &&
        !ends_otherwise(study, result) && !ends_otherwise(study, other))
      refuse_comparison(other, result,
                        fmt::format("trained {} and {} steps", other.steps, result.steps), "steps");
    if (!config::allows(*study.compare, config::Uneven::hardware) && is_timed(study, result) &&
        !result.hardware.empty() && !other.hardware.empty() && result.hardware != other.hardware)
      refuse_comparison(other, result,
                        fmt::format("had a budget in seconds on different hardware, {} and {}",
                                    other.hardware, result.hardware),
                        "hardware");
  }
}

}  // namespace ablate::analysis
