#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/analysis/make_evidence.h"
#include "tests/experiments/config/study_text.h"

namespace ablate::analysis {

/// A study of the arms `base` and those named, with seeds 1 to `seeds`.
inline std::string study_yaml(int seeds, const std::vector<std::string>& arms,
                              const std::string& more = "") {
  std::string text = "name: s\nquestion: Why?\nseeds: [";
  for (int seed = 1; seed <= seeds; ++seed) text += (seed == 1 ? "" : ", ") + std::to_string(seed);
  text += "]\nbase: {data: {task: copy, test_length: [12, 13]}}\narms:\n  base: {}\n";
  int layers = 2;
  for (const auto& arm : arms)
    text += "  " + arm + ": {model.layers: " + std::to_string(layers++) + "}\n";
  return text + more;
}

inline const std::string kCompare =
    "compare: {baseline: base, metric: exact_match, control: false}\n";

/// The same without a control, and with more keys.
inline std::string compare(const std::string& more) {
  return "compare: {baseline: base, metric: exact_match, control: false, " + more + "}\n";
}

/// A declaration that the arms are compared within and beyond the trained length.
inline const std::string kBothLengths = "test_sets: {copy: [length 12, length 13]}";

/// The same score in eight seeds.
inline const std::vector<double> kLow(8, 0.6), kHigh(8, 0.9);

/// The result of one run: exact match on "length 12" and, beyond the trained length, "length 13".
inline records::RunResult result_of(const std::string& arm, int64_t seed, double within,
                                    double beyond = 0) {
  records::TestScores near{.name = "length 12",
                           .examples = 100,
                           .bleu = 0,
                           .chrf = 0,
                           .exact_match = within,
                           .perplexity = 2};
  auto far = near;
  far.name = "length 13";
  far.extrapolates = true;
  far.exact_match = beyond;
  far.perplexity = 4;
  return {.study = "s",
          .task = "copy",
          .arm = arm,
          .seed = seed,
          .parameters = 1234,
          .active_parameters = 1234,
          .steps = 10,
          .train_loss = 1,
          .data_sha256 = "d",
          .tests = {near, far}};
}

/// Scores of each arm within the trained length, a value for each seed from 1 on.
using Scores = std::map<std::string, std::vector<double>>;

inline records::StudyRuns runs_of(const Scores& within, const Scores& beyond = {}) {
  records::StudyRuns runs{.folder = {"none/s"}};
  for (const auto& [arm, values] : within)
    for (size_t i = 0; i < values.size(); ++i) {
      const auto far = beyond.find(arm);
      runs.results.push_back(result_of(arm, static_cast<int64_t>(i + 1), values[i],
                                       far == beyond.end() ? 0 : far->second[i]));
    }
  return runs;
}

/// Of a study whose runs have these scores.
inline Evidence evidence_of(const std::string& yaml, const Scores& within,
                            const Scores& beyond = {}) {
  return make_evidence(study_of(yaml), runs_of(within, beyond));
}

inline Evidence evidence_of(const std::string& yaml, const records::StudyRuns& runs) {
  return make_evidence(study_of(yaml), runs);
}

/// All notes, each between two line ends.
inline std::string notes_of(const Evidence& evidence) {
  return fmt::format("\n{}\n", fmt::join(evidence.notes, "\n"));
}

inline const ArmEvidence& arm_of(const Evidence& evidence, std::string_view name) {
  return *std::ranges::find(evidence.tasks.front().arms, name, &ArmEvidence::name);
}

inline const Cell& cell_of(const Evidence& evidence, std::string_view arm,
                           std::string_view metric = "exact_match",
                           std::string_view test_set = "length 12") {
  return *std::ranges::find_if(arm_of(evidence, arm).cells, [&](const Cell& cell) {
    return cell.metric == metric && cell.test_set == test_set;
  });
}

inline const Contrast& contrast(const Evidence& evidence, std::string_view arm,
                                std::string_view test_set = "length 12") {
  return cell_of(evidence, arm, "exact_match", test_set).contrast.value();
}

}  // namespace ablate::analysis
