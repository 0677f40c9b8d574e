#include "experiments/evidence/notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/evidence/claims.h"
#include "experiments/evidence/contrast.h"
#include "experiments/evidence/figure.h"
#include "experiments/statistics/sign_flip.h"

namespace ablate::experiments {
namespace {

void add_flaws(const RunResult& run, std::vector<std::string>& notes) {
  const auto name = fmt::format("{}/{}/seed-{}", run.task, run.arm, run.seed);
  if (run.skipped_lines > 0)
    notes.push_back(fmt::format("{}: {} bad lines left out.", name, run.skipped_lines));
  if (run.cut_sources + run.cut_targets > 0)
    notes.push_back(fmt::format("{}: {} sources and {} targets cut at the length limit.", name,
                                run.cut_sources, run.cut_targets));
  if (run.skipped_updates > 0)
    notes.push_back(
        fmt::format("{}: {} updates left out (not finite).", name, run.skipped_updates));
}

void add_scoring(std::span<const RunResult> results, std::vector<std::string>& notes) {
  const auto decoded = std::ranges::find_if(
      results, [](const RunResult& run) { return !run.bleu_signature.empty(); });
  if (decoded == results.end()) return;
  notes.push_back("BLEU: " + decoded->bleu_signature);
  notes.push_back("chrF: " + decoded->chrf_signature);
  notes.emplace_back("Token accuracy is teacher-forced; the other scores are of decoded text.");
}

/// What the number of seeds supports.
void add_seeds(const Evidence& evidence, std::vector<std::string>& notes) {
  const auto seeds = std::ssize(evidence.seeds);
  if (seeds == 1) {
    notes.emplace_back("One seed supports no claim about the arms: differences may be chance.");
    return;
  }
  if (!evidence.baseline) return;
  const auto arms = std::ssize(evidence.tasks.front().arms) - 1;
  const auto needed = statistics::differences_needed(kLevel, arms);
  if (arms > 0 && seeds < needed)
    notes.push_back(
        fmt::format("{} seeds cannot show a significant difference{} (smallest p {}); {} can.",
                    seeds, arms > 1 ? fmt::format(" among {} arms", arms) : "",
                    p_figure(statistics::smallest_sign_flip_p(seeds)), needed));
}

}  // namespace

std::vector<std::string> notes_of(const Evidence& evidence, std::span<const RunResult> results) {
  std::vector<std::string> notes;
  add_seeds(evidence, notes);
  for (const auto& task : evidence.tasks)
    if (!results.empty() && !task.metric.empty() &&
        cell_within(task.arms.front(), task.metric) == nullptr)
      notes.push_back(fmt::format("{}: {} is not measured within the trained length.", task.name,
                                  spoken(task.metric)));
  for (const auto& run : results) add_flaws(run, notes);
  add_scoring(results, notes);
  return notes;
}

}  // namespace ablate::experiments
