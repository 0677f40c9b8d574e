#include "experiments/evidence/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/evidence/contrast.h"
#include "experiments/evidence/figure.h"
#include "experiments/statistics/holm.h"

namespace ablate::experiments {
namespace {

/// A task is learned by an arm that has this share of the examples within the trained length right.
constexpr double kLearned = 0.5;

const std::string kGate = "exact_match";

/// The seeds that only one of the two has finished.
std::string seeds_apart(const Sample& arm, const Sample& baseline,
                        const std::vector<int64_t>& seeds) {
  std::string apart;
  for (size_t i = 0; i < seeds.size(); ++i)
    if (std::isnan(arm.values[i]) != std::isnan(baseline.values[i]))
      apart += fmt::format("{}seed {} of {}", apart.empty() ? "" : ", ", seeds[i],
                           std::isnan(arm.values[i]) ? "the arm" : "the baseline");
  return apart.empty() ? "" : apart + " is missing";
}

/// Why nothing is claimed beyond the trained length; empty where one of both learned the task.
std::string not_learned(const ArmEvidence& arm, const ArmEvidence& baseline) {
  const auto* mine = cell_within(arm, kGate);
  const auto* others = cell_within(baseline, kGate);
  if (mine == nullptr || others == nullptr)
    return "no test set within the trained length shows that the task is learned";
  if (mine->sample.mean >= kLearned || others->sample.mean >= kLearned) return "";
  return fmt::format(
      "neither arm learned the task within the trained length (exact match {} and "
      "{} on {})",
      figure(mine->sample.mean, kGate), figure(others->sample.mean, kGate), mine->test_set);
}

}  // namespace

const Cell* cell_within(const ArmEvidence& arm, const std::string& metric) {
  const auto found = std::ranges::find_if(arm.cells, [&](const Cell& cell) {
    return cell.metric == metric && !cell.beyond && !cell.test_set.empty();
  });
  return found == arm.cells.end() ? nullptr : &*found;
}

void add_claims(TaskEvidence& task, const Comparison& comparison,
                const std::vector<int64_t>& seeds) {
  const auto baseline = std::ranges::find(task.arms, true, &ArmEvidence::baseline);
  for (size_t cell = 0; cell < baseline->cells.size(); ++cell) {
    const auto& reference = baseline->cells[cell].sample;
    std::vector<Contrast*> contrasts;
    std::vector<double> p;
    for (auto& arm : task.arms) {
      auto& mine = arm.cells[cell];
      if (arm.baseline || mine.sample.count == 0 || reference.count == 0) continue;
      mine.contrast = contrast_of(mine, reference);
      contrasts.push_back(&*mine.contrast);
      p.push_back(mine.contrast->p);
    }
    const auto adjusted = statistics::holm(p);
    for (size_t i = 0; i < contrasts.size(); ++i) contrasts[i]->holm_p = adjusted[i];
    for (auto& arm : task.arms) {
      auto& mine = arm.cells[cell];
      if (!mine.contrast) continue;
      judge(
          *mine.contrast, mine,
          {.baseline = baseline->name,
           .comparisons = std::ssize(contrasts),
           .missing =
               allows(comparison, Uneven::seeds) ? "" : seeds_apart(mine.sample, reference, seeds),
           .not_learned = mine.beyond ? not_learned(arm, *baseline) : ""});
    }
  }
}

}  // namespace ablate::experiments
