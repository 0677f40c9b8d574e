#include "experiments/config/study/study_notes.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

using Notes = std::vector<std::string>;

TEST(StudyNotes, LeaveTheWarmUpOfOtherBudgetsToTheDryRun) {
  const auto run =
      study_of(kTraining + "{schedule: {warmup: 2000}, budget: {kind: tokens, tokens: 100000}}\n");
  EXPECT_EQ(run.notes, Notes());
  EXPECT_EQ(training_notes(run.runs[0].experiment.training, 1999).size(), 1U);
  EXPECT_EQ(training_notes(run.runs[0].experiment.training, 2001), Notes());
}

}  // namespace
}  // namespace ablate::config
