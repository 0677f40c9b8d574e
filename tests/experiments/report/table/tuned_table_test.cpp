#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "experiments/analysis/tuned_values.h"
#include "experiments/report/table/grid.h"
#include "experiments/report/table/layout.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// Two keys; the best values of the one arm are at the edge, and the other arm is being searched.
analysis::TuningEvidence two_keys() {
  const config::ArmSearch found{
      .task = "copy",
      .arm = "base",
      .tried = {{.values = {"0.1", "0"}, .scores = {9, std::nan("")}},
                {.values = {"0.2", "0"}, .scores = {3, 4}, .declared = false}},
      .chosen = {{.tried = 1, .at_edge = {{"training.schedule.peak", config::End::largest}}}}};
  return {.keys = {{"training.schedule.peak", "peak", {}}, {"model.dropout", "dropout", {}}},
          .metric = "validation_perplexity",
          .seeds = {101, 102},
          .arms = {{.search = found, .sensitivity = 0.25},
                   {.search = {.task = "copy", .arm = "more", .open = 2}}}};
}

analysis::Evidence tuned() {
  auto evidence = analysis::evidence_of(analysis::study_yaml(2, {"more"}, analysis::kCompare),
                                        {{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  evidence.tuning = two_keys();
  return evidence;
}

TEST(Tables, ShowTheChosenValuesAndWhereTheyLie) {
  auto evidence = tuned();
  const auto text = text_table(evidence);
  for (const char* sought :
       {"chosen values of training.schedule.peak and model.dropout by validation perplexity on "
        "seeds 101, 102\n",
        "0.2        0", "3.500", "0.250", "peak at the edge of its grid", "2 trial runs to go"})
    EXPECT_TRUE(says(text, sought));
}

TEST(TerminalTable, NamesTheValuesThatTuningChose) {
  const auto text = terminal_table(tuned());
  EXPECT_TRUE(says(text, "\nchosen values of training.schedule.peak and model.dropout by "));
  EXPECT_TRUE(says(text, "  base   0.2        0"));
}

/// Searches of two seeds, which chose differently; one of them tried a further value.
TEST(Tables, CountTheValuesThatSeedsHaveChosen) {
  auto evidence = tuned();
  auto& tuning = *evidence.tuning;
  tuning.by = config::TunedBy::seed;
  auto& search = tuning.arms.front().search;
  search.tried = {{.values = {"0.1", "0"}, .scores = {9, 3}},
                  {.values = {"0.2", "0"}, .scores = {4, std::nullopt}, .declared = false}};
  search.chosen = {{.tried = 1, .at_edge = {{"training.schedule.peak", config::End::largest}}},
                   {.tried = 0, .at_edge = {}}};
  const auto text = text_table(evidence);
  for (const char* sought :
       {"by validation perplexity on a seed of its\nown (101, 102)\n", "base  0.1 (1), 0.2 (1) ",
        "3.500", "peak of 1 seed at the edge of its grid"})
    EXPECT_TRUE(says(text, sought));
  const auto arm = nlohmann::json::parse(json_table(evidence)).at("tuning").at("arms").at(0);
  EXPECT_EQ(arm.at("seeds").at(0).at("chosen").at("training.schedule.peak"), "0.2");
  EXPECT_EQ(arm.at("seeds").at(1).at("chosen").at("training.schedule.peak"), "0.1");
  EXPECT_EQ(arm.at("tried")[1].at("scores").dump(), "[4.0,null]");
}

TEST(Grids, SetTriedValuesBesideTheBaselinesEqualOnes) {
  auto evidence = tuned();
  auto& arms = evidence.tuning->arms;
  arms[0].search.tried = {{.values = {"0.1", "0"}, .scores = {3, 5}},
                          {.values = {"0.2", "0"}, .scores = {4, std::nan("")}}};
  arms[1].search.tried = {{.values = {"0.1", "0"}, .scores = {2.5, std::nullopt}},
                          {.values = {"0.2", "0"}, .scores = {3, 4}},
                          {.values = {"0.4", "0"}, .scores = {3, 4}}};
  analysis::add_gains(*evidence.tuning, evidence.baseline);
  const auto grid = tried_grid(evidence);
  const auto beside = std::ranges::find(grid.columns, "beside base", &GridColumn::heading);
  ASSERT_NE(beside, grid.columns.end());
  std::string found;
  for (const auto& row : grid.rows)
    found += row[static_cast<size_t>(beside - grid.columns.begin())].text + "; ";
  EXPECT_EQ(found, "; ; -0.500; -; -; ") << "of seed 101 alone; diverged; not tried";
}

/// A curve of three values, one of them left out, beside one without a vertex.
TEST(Tables, ShowTheVertexOfACurveAndHowWellItFits) {
  auto evidence = tuned();
  auto& tuning = *evidence.tuning;
  tuning.by = config::TunedBy::curve;
  tuning.keys.pop_back();
  tuning.arms[0].search = {
      .task = "copy",
      .arm = "base",
      .tried = {{.values = {"0.1"}, .scores = {9, 9}}, {.values = {"0.2"}, .scores = {8, 8}}},
      .chosen = {{.tried = 0, .at_edge = {}}}};
  tuning.arms[0].curve = {.weights = {1, 0}, .value = 0.12345, .score = 8.5, .misfit = 0.0625};
  tuning.arms[1].curve = analysis::TunedCurve{};
  analysis::add_gains(tuning, evidence.baseline);
  const auto text = text_table(evidence);
  EXPECT_TRUE(says(text, "0.123                  8.500        0.250   0.062"));
  EXPECT_TRUE(says(text, "more      -                      -            -       -  2 runs to go"));
  std::string words;
  for (const auto& row : tried_grid(evidence).rows) words += row.back().text + "; ";
  EXPECT_EQ(words, "nearest; left out; ");
  const auto arms = nlohmann::json::parse(json_table(evidence)).at("tuning").at("arms");
  EXPECT_EQ(arms[0].at("curve").at("value"), 0.12345);
  EXPECT_EQ(arms[0].at("curve").at("vertex"), "within");
  EXPECT_EQ(arms[0].at("curve").at("weights").dump(), "[1.0,0.0]");
  EXPECT_FALSE(arms[0].contains("gain"));
  EXPECT_EQ(arms[1].at("gain").at("at_best"), "NaN");
}

TEST(Json, HoldsEveryCombinationThatWasTriedWithItsScores) {
  auto evidence = tuned();
  const auto tuning = nlohmann::json::parse(json_table(evidence)).at("tuning");
  EXPECT_EQ(tuning.at("keys").dump(), R"(["training.schedule.peak","model.dropout"])");
  const auto& arm = tuning.at("arms")[0];
  EXPECT_EQ(arm.at("chosen").dump(), R"({"model.dropout":"0","training.schedule.peak":"0.2"})");
  EXPECT_EQ(arm.at("at_edge").dump(), R"({"training.schedule.peak":"largest"})");
  EXPECT_EQ(arm.at("sensitivity"), 0.25);
  EXPECT_EQ(arm.at("tried")[0].at("scores").dump(), R"([9.0,"NaN"])");
  EXPECT_EQ(arm.at("tried")[0].at("mean"), "NaN");
  EXPECT_EQ(arm.at("tried")[1].at("mean"), 3.5);
  EXPECT_EQ(arm.at("tried")[1].at("declared"), false);
  EXPECT_TRUE(tuning.at("arms")[1].at("chosen").is_null());
  EXPECT_EQ(tuning.at("arms")[1].at("open_runs"), 2);
}

}  // namespace
}  // namespace ablate::report
