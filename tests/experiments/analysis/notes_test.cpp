#include "experiments/analysis/notes.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

TEST(Notes, SayOnceWhichSeedsWereAddedAfterAReport) {
  auto study = study_of(study_yaml(2, {"other"}, kCompare), {.seeds = {1, 2, 3}});
  const auto runs = runs_of({{"base", {0.5, 0.6, 0.7}}, {"other", {0.7, 0.8, 0.9}}});
  const auto told = [&] {
    return std::ranges::count_if(make_evidence(study, runs).notes, [](const std::string& note) {
      return note.find("added") != std::string::npos || note.find("Added") != std::string::npos;
    });
  };
  EXPECT_EQ(told(), 0) << "nobody had seen a result";
  study.late.seeds = {3};
  EXPECT_EQ(told(), 1);
  EXPECT_TRUE(notes_of(make_evidence(study, runs))
                  .starts_with("\nAdded after a report of the other seeds had been made: seed 3."));
  study.late = {.arms = {"other"}, .sizes = {"small", "large"}};
  EXPECT_TRUE(notes_of(make_evidence(study, runs))
                  .starts_with("\nAdded after a report of the others had been made: arm other; "
                               "sizes small, large. "));
}

TEST(Notes, NameABestValueThatIsTheSmallestOrTheLargestThatWasTried) {
  auto study = study_of(study_yaml(
      2, {"other"},
      kCompare + "tune: {by: shared, keys: {training.schedule.peak: [0.002, 0.001, 0.004]}}\n"));
  const auto notes_of_best = [&](std::map<std::string, config::End> at_edge) {
    study.tuning->searches = {{.task = "copy",
                               .arm = "other",
                               .tried = {{.values = {"0.004"}, .scores = {3, 4}}},
                               .chosen = {{.tried = 0, .at_edge = std::move(at_edge)}}}};
    return notes_of(make_evidence(study, runs_of({{"base", {0.5, 0.6}}})));
  };
  const std::string note = "The best training.schedule.peak is the smallest or the largest that ";
  EXPECT_FALSE(says(notes_of_best({}), note));
  EXPECT_TRUE(says(notes_of_best({{"training.schedule.peak", config::End::largest}}),
                   note + "was tried, and a better one may lie beyond, of copy/other (0.004, the "
                          "largest); "));
}

TEST(Notes, NameArmsThatMatchWasToMakeEquallyLarge) {
  auto study = study_of(study_yaml(2, {"other"}, kCompare));
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"other", {0.7, 0.8}}});
  const std::string note = "copy: match has not made the arms equally large: ";
  const auto notes_of_size = [&](int64_t parameters) {
    for (auto& run : runs.results)
      if (run.arm == "other") run.parameters = parameters;
    return notes_of(make_evidence(study, runs));
  };
  EXPECT_FALSE(says(notes_of_size(2000), note)) << "nothing was matched";
  for (auto& run : study.runs)
    if (run.arm == "other") run.origins["model.feed_forward.d_hidden"] = "match";
  EXPECT_TRUE(says(notes_of_size(2000), note + "other has 2000 parameters and base has 1234."));
  EXPECT_FALSE(says(notes_of_size(1240), note)) << "1 % is allowed";
}

TEST(Sensitivity, IsTheMeanLossOverTheFilesValuesAboveTheBestOfAllThatWereTried) {
  auto study = study_of(study_yaml(
      2, {"other"},
      kCompare + "tune: {by: shared, keys: {training.schedule.peak: [0.001, 0.002]}}\n"));
  config::ArmSearch search{
      .task = "copy",
      .arm = "other",
      .tried = {{.values = {"0.001"}, .scores = {std::exp(3), std::exp(5)}},
                {.values = {"0.002"}, .scores = {std::exp(2), std::exp(2)}},
                {.values = {"0.004"}, .scores = {std::exp(1), std::exp(2)}, .declared = false}},
      .chosen = {{.tried = 2, .at_edge = {}}}};
  const auto sensitivity = [&] {
    study.tuning->searches = {search};
    return make_evidence(study, runs_of({{"base", {0.5, 0.6}}})).tuning->arms[0].sensitivity;
  };
  EXPECT_NEAR(sensitivity(), (4.0 + 2.0) / 2 - 1.5, 1e-12);
  search.tried[0].scores[1] = std::nan("");
  EXPECT_TRUE(std::isnan(sensitivity())) << "of a value that diverged no loss is known";
  search.chosen.front().tried.reset();
  EXPECT_TRUE(std::isnan(sensitivity()));
}

}  // namespace
}  // namespace ablate::analysis
