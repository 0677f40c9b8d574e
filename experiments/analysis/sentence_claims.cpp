#include "experiments/analysis/sentence_claims.h"

#include <algorithm>

#include "experiments/analysis/sentence_test.h"

namespace ablate::analysis {
namespace {

/// The outputs of one arm on one test set, a value for each seed.
using Outputs = std::vector<std::optional<ScoredSentences>>;

Outputs read_outputs(const config::Study& study, const records::StudyFolder& folder,
                     const config::RunSpecification& any, const std::string& test_set) {
  Outputs outputs;
  for (const int64_t seed : study.seeds) {
    auto run = any;
    run.seed = seed;
    outputs.push_back(read_sentences(folder.run(run), test_set));
  }
  return outputs;
}

void add_tests(Cell& cell, const Outputs& arm, const Outputs& baseline,
               const std::vector<int64_t>& seeds) {
  const bool bleu = cell.metric == "bleu";
  if (cell.sample.count == 0 || (!bleu && cell.metric != "chrf")) return;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (!arm[i] || !baseline[i]) continue;
    if (arm[i]->bleu.sentences() != baseline[i]->bleu.sentences()) continue;
    auto test = bleu ? bleu_test(*arm[i], *baseline[i]) : chrf_test(*arm[i], *baseline[i]);
    test.seed = seeds[i];
    cell.sentence_tests.push_back(test);
  }
}

}  // namespace

void add_sentence_tests(TaskEvidence& task, const config::Study& study,
                        const records::StudyFolder& folder) {
  const auto run_of = [&](const std::string& arm) -> const config::RunSpecification& {
    return *std::ranges::find_if(
        study.runs, [&](const auto& run) { return run.task == task.name && run.arm == arm; });
  };
  for (auto& arm : task.arms) {
    const auto* baseline = baseline_of(task, arm);
    if (baseline == nullptr) continue;
    const auto& reference = run_of(baseline->name);
    if (!std::holds_alternative<data::Text>(reference.experiment.data)) continue;
    for (const auto& cell : baseline->cells) {
      if (cell.metric != "bleu") continue;
      const auto of_baseline = read_outputs(study, folder, reference, cell.test_set);
      const auto mine = read_outputs(study, folder, run_of(arm.name), cell.test_set);
      for (auto& other : arm.cells)
        if (other.test_set == cell.test_set) add_tests(other, mine, of_baseline, study.seeds);
    }
  }
}

}  // namespace ablate::analysis
