#include "experiments/evidence/notes.h"

#include <gtest/gtest.h>

#include "tests/experiments/evidence/synthetic.h"

namespace ablate::experiments {
namespace {

/// Notes of a base and an arm of two seeds, of whose initial weights the function says what is
/// known.
template <class Start>
std::string notes_with(const Start& start) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  for (auto& run : runs.results) run.initial_weights = start(run);
  std::string all;
  for (const auto& note : make_evidence(study_of(study_yaml(2, {"other"}, kCompare)), runs).notes)
    all += note + "\n";
  return all;
}

TEST(Notes, SayWhatShareOfItsInitialWeightsAnArmHasInCommonWithTheBaseline) {
  const auto notes = notes_with([](const RunResult& run) {
    const auto seed = std::to_string(run.seed);
    return run.arm == "base" ? InitialWeights{{"embedding" + seed, 900}, {"sinusoid" + seed, 1}}
                             : InitialWeights{{"embedding" + seed, 900}, {"learned" + seed, 100}};
  });
  EXPECT_NE(
      notes.find("copy: initial weights of each arm that base starts from too: other 90 %.\n"),
      std::string::npos)
      << notes;
}

TEST(Notes, AreSilentOnInitialWeightsThatEarlierVersionsDidNotKeep) {
  EXPECT_EQ(notes_with([](const RunResult&) { return InitialWeights{}; }).find("initial weights"),
            std::string::npos);
}

}  // namespace
}  // namespace ablate::experiments
