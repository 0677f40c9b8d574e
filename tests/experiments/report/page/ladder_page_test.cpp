#include <gtest/gtest.h>

#include <regex>

#include "experiments/report/page/page.h"
#include "tests/experiments/report/page/sample_report.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// The sample report in two sizes, with a ladder over them.
SampleReport report_of_two_sizes() {
  auto report = sample_report();
  auto& tasks = report.evidence.tasks;
  tasks.push_back(tasks.front());
  for (size_t i = 0; i < 2; ++i) {
    tasks[i].name = i == 0 ? "numbers-small" : "numbers-large";
    tasks[i].setting = {.task = "numbers", .size = i == 0 ? "small" : "large", .grid = {}};
  }
  analysis::LadderArm arm{.name = "learned",
                          .baseline = "sinusoidal",
                          .scores = {sample({0.5, 0.75}), sample({0.5, 0.75})},
                          .effects = {sample({-0.25, 0.125}), sample({-0.25, 0.125})},
                          .p = {0.5, 1},
                          .sentence = "learned: no turn of its sign is shown."};
  report.evidence.ladders = {
      {.task = "numbers",
       .axis = analysis::kSizeAxis,
       .at = "",
       .test_set = "4 digits",
       .metric = "exact_match",
       .logarithmic = true,
       .rungs = {{"numbers-small", "small", 1200}, {"numbers-large", "large", 9000}},
       .arms = {arm}}};
  return report;
}

TEST(LadderPage, ALadderStandsBeforeTheResultsOfItsSettings) {
  const auto page = page_of(report_of_two_sizes());
  const auto ladder = page.find("<h2>Over sizes: numbers, exact match on 4 digits</h2>");
  EXPECT_LT(ladder, page.find("<h2>Results: numbers-small</h2>"));
  EXPECT_TRUE(says(page, "learned: no turn of its sign is shown."));
  EXPECT_TRUE(says(page, "Differences have the corrected p and intervals of their verdicts."));
}

/// The numbers along the axes of y of a ladder's charts.
std::vector<std::string> y_ticks(const std::string& page, const std::string& ladder) {
  const auto begin = page.find("id=\"" + ladder + "\"");
  const auto section = page.substr(begin, page.find("</section>", begin) - begin);
  const std::regex tick("class=\"tick end\"[^>]*>([^<]*)<");
  std::vector<std::string> found;
  for (std::sregex_iterator one(section.begin(), section.end(), tick), end; one != end; ++one)
    found.push_back((*one)[1]);
  EXPECT_FALSE(found.empty());
  return found;
}

TEST(LadderPage, LaddersOfOneMetricHaveTheSameScales) {
  auto report = report_of_two_sizes();
  auto& ladders = report.evidence.ladders;
  const auto alone = y_ticks(page_of(report), "ladder-1");
  ladders.push_back(ladders.front());
  ladders.back().test_set = "5 digits";
  ladders.back().arms.front().effects = {sample({-8, -6}), sample({2, 4})};
  ladders.back().arms.front().scores = {sample({0.5, 0.75}), sample({40, 50})};
  const auto page = page_of(report);
  EXPECT_NE(y_ticks(page, "ladder-1"), alone);
  EXPECT_EQ(y_ticks(page, "ladder-1"), y_ticks(page, "ladder-2"));
  ladders.back().metric = "loss";
  EXPECT_EQ(y_ticks(page_of(report), "ladder-1"), alone);
}

TEST(LadderPage, FactsCountDeclaredTasksAndTheirSettings) {
  EXPECT_TRUE(says(page_of(report_of_two_sizes()),
                   "<dt>tasks</dt><dd>1</dd></div><div><dt>settings</dt><dd>2</dd>"));
  EXPECT_FALSE(says(page_of(sample_report()), "<dt>settings</dt>"));
}

}  // namespace
}  // namespace ablate::report
