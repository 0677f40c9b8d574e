#include "experiments/analysis/size_fits.h"

#include "experiments/analysis/sample.h"

namespace ablate::analysis {
namespace {

/// The law over all arms of the value that `of` takes from an arm's cell.
template <class Of>
std::optional<statistics::PowerLaw> law_over_arms(const TaskEvidence& task, size_t cell, Of of) {
  std::vector<statistics::Observation> observations;
  for (const auto& arm : task.arms)
    observations.push_back({static_cast<double>(arm.parameters), of(arm.cells[cell].sample)});
  return statistics::fit_power_law(observations);
}

}  // namespace

std::vector<SizeFit> size_fits_of(const TaskEvidence& task) {
  std::vector<SizeFit> fits;
  for (size_t cell = 0; cell < task.arms.front().cells.size(); ++cell) {
    const auto& first = task.arms.front().cells[cell];
    if (!first.primary) continue;
    const auto law = law_over_arms(task, cell, [](const Sample& sample) { return sample.mean; });
    if (!law) continue;
    std::vector<double> exponents;
    for (size_t seed = 0; seed < first.sample.values.size(); ++seed) {
      const auto one =
          law_over_arms(task, cell, [&](const Sample& sample) { return sample.values[seed]; });
      exponents.push_back(one ? one->exponent : kUntested);
    }
    fits.push_back({.test_set = first.test_set,
                    .metric = first.metric,
                    .law = *law,
                    .exponents = sample_of(std::move(exponents))});
  }
  return fits;
}

}  // namespace ablate::analysis
