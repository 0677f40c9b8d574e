#include "experiments/evidence/notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiments/evidence/claims.h"
#include "experiments/evidence/contrast.h"
#include "experiments/evidence/figure.h"
#include "experiments/records/folders.h"
#include "experiments/statistics/sign_flip.h"

namespace ablate::experiments {
namespace {

void add_flaws(const RunResult& run, std::vector<std::string>& notes) {
  const auto name = label(run.task, run.arm, run.seed);
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

/// Its first run that says what it started from; null where none does.
const RunResult* started_run(std::span<const RunResult> results, const std::string& task,
                             const std::string& arm, std::optional<int64_t> seed = {}) {
  const auto found = std::ranges::find_if(results, [&](const RunResult& run) {
    return run.task == task && run.arm == arm && (!seed || run.seed == *seed) &&
           !run.initial_weights.empty();
  });
  return found == results.end() ? nullptr : &*found;
}

/// How much of its start an arm has in common with the baseline: what pairing by seed pairs.
void add_pairing(const Evidence& evidence, std::span<const RunResult> results,
                 std::vector<std::string>& notes) {
  if (!evidence.baseline) return;
  for (const auto& task : evidence.tasks) {
    std::string shares;
    for (const auto& arm : task.arms) {
      const auto* run = arm.baseline ? nullptr : started_run(results, task.name, arm.name);
      if (run == nullptr) continue;
      const auto* base = started_run(results, task.name, *evidence.baseline, run->seed);
      if (base == nullptr) continue;
      shares += fmt::format("{}{} {:.3g} %", shares.empty() ? "" : ", ", arm.name,
                            100 * shared_share(run->initial_weights, base->initial_weights));
    }
    if (!shares.empty())
      notes.push_back(fmt::format("{}: initial weights of each arm that {} starts from too: {}.",
                                  task.name, *evidence.baseline, shares));
  }
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
  add_pairing(evidence, results, notes);
  for (const auto& run : results) add_flaws(run, notes);
  add_scoring(results, notes);
  return notes;
}

}  // namespace ablate::experiments
