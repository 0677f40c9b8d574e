#include "experiments/report/chart/forest.h"

#include <gtest/gtest.h>

#include <regex>

#include "experiments/report/page/page.h"
#include "tests/experiments/report/page/sample_report.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// One arm that is 0.5 above its baseline, from 0.25 to 0.75.
Forest plot(const std::optional<statistics::Interval>& interval = statistics::Interval{0.25, 0.75},
            const std::optional<double>& margin = {}) {
  return {.title = "Differences",
          .panels = {{.low_side = "worse",
                      .high_side = "better than base",
                      .groups = {{.title = "on test",
                                  .rows = {{.name = "arm",
                                            .figures = "+0.500",
                                            .look = {1},
                                            .mean = 0.5,
                                            .interval = interval,
                                            .margin = margin,
                                            .values = {0.25, 0.5, 0.75}}}}}}}};
}

/// The task is compared by this metric.
void compare_by(const std::string& metric, analysis::TaskEvidence& task) {
  task.metric = metric;
  for (auto& arm : task.arms)
    for (auto& cell : arm.cells) cell.metric = metric;
}

double first_number(const std::string& html, const std::string& pattern) {
  std::smatch found;
  EXPECT_TRUE(std::regex_search(html, found, std::regex(pattern))) << pattern << " in\n" << html;
  return found.empty() ? 0 : std::stod(found[1]);
}

TEST(Forest, MarksLieInProportionFromTheZeroLineOn) {
  const auto html = draw(plot()).html();
  const double zero = first_number(html, "class=\"zero\" d=\"M([0-9.]+) ");
  const double low = first_number(html, "class=\"bar\" d=\"M([0-9.]+) ");
  const double high = first_number(html, "class=\"bar\"[^>]*H([0-9.]+)");
  const double mean = first_number(html, "class=\"mark\" transform=\"translate\\(([0-9.]+) ");
  const double dot = first_number(html, "class=\"dot\" cx=\"([0-9.]+)\"");
  const double unit = high - low;  // half of the scale's 1
  EXPECT_GT(unit, 100);
  EXPECT_NEAR(low - zero, unit / 2, 0.2);
  EXPECT_NEAR(mean - zero, unit, 0.2);
  EXPECT_NEAR(dot, low, 0.2);
}

TEST(Forest, WithoutAnIntervalTheMeanAndTheSeedsAreDrawn) {
  const auto html = draw(plot(std::nullopt)).html();
  EXPECT_FALSE(says(html, "class=\"bar\""));
  EXPECT_EQ(occurrences(html, "class=\"dot\""), 3U);
  EXPECT_EQ(occurrences(html, "class=\"mark\""), 2U) << "at the mean and beside the name";
}

TEST(Forest, TheMarginIsABandAroundZero) {
  EXPECT_FALSE(says(draw(plot()).html(), "class=\"margin\""));
  const auto html = draw(plot(statistics::Interval{0.25, 0.75}, 0.1)).html();
  const double left = first_number(html, "class=\"margin\" x=\"([0-9.]+)\"");
  const double width = first_number(html, "class=\"margin\"[^>]*width=\"([0-9.]+)\"");
  EXPECT_NEAR(left + width / 2, first_number(html, "class=\"zero\" d=\"M([0-9.]+) "), 0.2);
}

TEST(Forest, TheFileNeedsNothingAroundIt) {
  const auto file = forest_file(plot());
  EXPECT_TRUE(file.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns="));
  EXPECT_FALSE(says(file, "var(")) << "converters to PDF know no variables";
  EXPECT_TRUE(says(file, ".c1 .bar{stroke:#0072b2}"));
  EXPECT_TRUE(says(file, ">on test<"));
}

TEST(Forest, OfAStudyHasEveryComparisonOnTheScaleOfItsMetric) {
  auto report = sample_report();
  auto forest = forest_of(report.evidence);
  ASSERT_EQ(forest.panels.size(), 1U);
  EXPECT_EQ(forest.title, "Difference from sinusoidal in exact match");
  const auto& panel = forest.panels[0];
  EXPECT_EQ(panel.low_side, "worse");
  EXPECT_EQ(panel.high_side, "better than sinusoidal");
  ASSERT_EQ(panel.groups.size(), 2U);
  EXPECT_EQ(panel.groups[1].title, "5 digits more, beyond training");
  ASSERT_EQ(panel.groups[0].rows.size(), 1U);
  EXPECT_EQ(panel.groups[0].rows[0].figures, "\u22120.062 [\u22120.500, 0.375]");
  report.evidence.tasks[0].arms[1].cells[0].contrast->verdict = analysis::Verdict::worse;
  EXPECT_EQ(forest_of(report.evidence).panels[0].groups[0].rows[0].figures,
            "\u25bc \u22120.062 [\u22120.500, 0.375]");
}

TEST(Forest, TheBetterSideIsTheOneOfTheMetric) {
  auto report = sample_report();
  compare_by("perplexity", report.evidence.tasks[0]);
  const auto forest = forest_of(report.evidence);
  ASSERT_EQ(forest.panels.size(), 1U);
  EXPECT_EQ(forest.panels[0].low_side, "better than sinusoidal");
  EXPECT_EQ(forest.panels[0].high_side, "worse");
}

TEST(Forest, TasksOfOneMetricHaveOneAxis) {
  auto report = sample_report();
  auto& tasks = report.evidence.tasks;
  tasks.push_back(tasks[0]);
  tasks[1].name = "reverse";
  auto forest = forest_of(report.evidence);
  ASSERT_EQ(forest.panels.size(), 1U);
  ASSERT_EQ(forest.panels[0].groups.size(), 4U);
  EXPECT_EQ(forest.panels[0].groups[2].title, "reverse: 4 digits");
  for (auto& task : tasks) compare_by("perplexity", task);
  EXPECT_EQ(forest_of(report.evidence).panels.size(), 1U) << "of whatever metric";
  compare_by("exact_match", tasks[1]);
  forest = forest_of(report.evidence);
  EXPECT_EQ(forest.title, "Difference from sinusoidal");
  EXPECT_EQ(forest.panels[1].groups[0].title, "reverse: exact match on 4 digits");
}

TEST(Forest, ManyExploratoryTestSetsAreLeftToTheTable) {
  auto report = sample_report();
  auto& tasks = report.evidence.tasks;
  tasks.resize(1);
  tasks[0].arms[1].cells[1].primary = false;
  const auto groups_of = [&](size_t count) {
    tasks.resize(1);
    while (tasks.size() < count) tasks.push_back(tasks[0]);
    return forest_of(report.evidence).panels.at(0).groups;
  };
  EXPECT_EQ(groups_of(4).size(), 8U);
  EXPECT_EQ(groups_of(5).size(), 5U);
  for (const auto& group : groups_of(5)) EXPECT_TRUE(group.primary);
}

TEST(Forest, AnExploratoryTestSetWithoutAnyDifferenceIsLeftOut) {
  auto report = sample_report();
  auto& cell = report.evidence.tasks[0].arms[1].cells[1];
  cell.primary = false;
  EXPECT_EQ(forest_of(report.evidence).panels[0].groups[1].title,
            "5 digits more, beyond training, exploratory");
  cell.contrast->differences = {0, 0};
  EXPECT_EQ(forest_of(report.evidence).panels[0].groups.size(), 1U);
  cell.primary = true;
  EXPECT_EQ(forest_of(report.evidence).panels[0].groups.size(), 2U);
}

}  // namespace
}  // namespace ablate::report
