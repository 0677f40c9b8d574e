#include "experiments/report/page/page.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/report/page/sample_report.h"

namespace ablate::report {
namespace {

size_t place(const std::string& page, const std::string& what) {
  const auto found = page.find(what);
  EXPECT_NE(found, std::string::npos) << what;
  return found;
}

TEST(Page, SaysQuestionAnswerAndMissingRunsBeforeAnyResult) {
  const auto page = page_of(sample_report());
  const auto question = place(page, "<h1>Does it matter?</h1>");
  const auto answer = place(page, "<p class=\"answer\">It does not.</p>");
  const auto missing = place(page, "<h2>1 run is missing</h2>");
  EXPECT_LT(question, answer);
  EXPECT_LT(answer, missing);
  EXPECT_LT(missing, place(page, "<h2>Results</h2>"));
  place(page, "failed: no memory");
}

TEST(Page, ARowOfTheTableHoldsTheEvidence) {
  const auto page = page_of(sample_report());
  const auto row = place(page, "<tr class=\"other\">");
  const auto html = page.substr(row, page.find("</tr>", row) - row);
  for (const auto* figure :
       {"learned", "key: learned value", ">2<", "0.812", "[0.792, 0.833]", "seed 1: 0.750",
        "seed 2: 0.875", "\u22120.062", "[\u22120.500, 0.375]", "pair 2: +0.125", ">0.75<",
        ">1.00<", "\u2248 not distinguishable", "1 k", "2.40 k"})
    EXPECT_NE(html.find(figure), std::string::npos) << figure << " in\n" << html;
}

TEST(Page, ARowShowsEveryKeyThatTheArmHasAndTheBaselineLacks) {
  auto report = sample_report();
  auto& changes = report.evidence.tasks[0].arms[1].changes;
  changes = {{"kind", "full", "window"}, {"size", "", "8"}, {"heads", "4", ""}};
  const auto page = page_of(report);
  const auto row = place(page, "<tr class=\"other\">");
  const auto html = page.substr(row, page.find("</tr>", row) - row);
  place(html, "kind: window");
  place(html, "size: 8");
  EXPECT_EQ(html.find("heads"), std::string::npos) << "another kind leaves it behind";
}

TEST(Page, TheBestCellIsTheOneThatTheEvidenceMarks) {
  auto report = sample_report();
  auto& cells = report.evidence.tasks[0].arms[1].cells;
  EXPECT_EQ(page_of(report).find("<strong>0.812</strong>"), std::string::npos);
  cells[0].best = true;
  const auto page = page_of(report);
  place(page, "<strong>0.812</strong>");
  place(page, "<strong>0.812 \u00b1 0.010</strong>");
}

TEST(Page, TheFamilyOfComparisonsAndTheTestsOfAMarginAreSaid) {
  auto report = sample_report();
  auto& task = report.evidence.tasks[0];
  task.family = "Holm's correction covers all 2 of them.";
  task.margin = 0.01;
  task.arms[1].cells[0].contrast->equivalence = {0.0625, 0.125};
  task.arms[1].cells[0].contrast->verdict = analysis::Verdict::undecided;
  const auto page = page_of(report);
  place(page, "Holm&#39;s correction covers all 2 of them.");
  place(page, "below 0.01");
  place(page, "<td class=\"number\">0.062</td><td class=\"number\">0.12</td>");
  place(page, "\u00b7 undecided");
}

TEST(Page, ATestSetBeyondTrainingIsMarkedInWords) {
  place(page_of(sample_report()), ">5 digits more, beyond training<");
}

TEST(Page, ACurveOverLengthIsOfTestSetsWithALengthAndNotOfNamesWithDigits) {
  auto report = sample_report();
  const auto page = page_of(report);
  place(page, "exact match over length");
  place(page, ">length in digits<");
  for (auto& arm : report.evidence.tasks[0].arms)
    for (auto& cell : arm.cells) {
      cell.test_set = cell.extrapolates ? "test_2017_flickr" : "test_2016_flickr";
      cell.length = 0;
    }
  EXPECT_EQ(page_of(report).find("over length"), std::string::npos);
}

TEST(Page, AFailedExpectationIsSaidInWordsWithItsNumbers) {
  place(page_of(sample_report()),
        "<li class=\"fails\"><strong>\u2717 fails</strong><code>learned &gt; sinusoidal</code>"
        "<span class=\"muted\">0.1 and 0.2</span></li>");
}

TEST(Page, WhatWasObservedHasACurveForEveryPlaceAndItsLastFiguresByHead) {
  const auto page = page_of(sample_report());
  const auto section = place(page, "<h3>Inside the models</h3>");
  EXPECT_GT(place(page, "sinusoidal: attention entropy"), section);
  place(page, "<title>decoder.0.cross: 1.25 at step 10</title>");
  place(page, "<title>learned: 300 at step 20</title>");
  place(page, "Heads of learned, seed 1");
  place(page, "<title>head 2: 1.5 at step 10</title>");
  place(page, "Last observation of learned, after step 20");
  place(page,
        "<tr><th scope=\"row\">decoder.layers.0.cross_attention</th><td>attention entropy</td>"
        "<td class=\"number\">1</td><td class=\"number\">0.5</td><td class=\"number\">1.5</td>");
  auto report = sample_report();
  for (auto& run : report.data.runs) run.observed.clear();
  EXPECT_EQ(page_of(report).find("Inside the models"), std::string::npos);
}

TEST(Page, ARunOfVeryManyHeadsShowsTheFirstAndSaysWhereTheOthersAre) {
  auto report = sample_report();
  EXPECT_EQ(page_of(report).find("These are the first"), std::string::npos);
  auto& observed = report.data.runs.front().observed;
  observed.assign(25, observed.front());
  observed.back().place = "encoder.layers.7.attention";
  const auto page = page_of(report);
  place(page, "These are the first 24 of 25 charts");
  EXPECT_EQ(page.find("encoder.7: attention entropy of each head"), std::string::npos);
}

TEST(Page, AFitShowsEveryArmOverItsSizeAndTheLaw) {
  auto report = sample_report();
  auto& task = report.evidence.tasks[0];
  task.arms[1].parameters = 120'000;
  task.fits = {{.test_set = task.arms[0].cells[0].test_set,
                .metric = "exact_match",
                .law = {.factor = 2, .exponent = -0.125, .r_squared = 0.9},
                .exponents = sample({-0.125, -0.25})}};
  const auto page = page_of(report);
  place(page, "exact match over size");
  place(page, "2 times parameters to the power of \u22120.125");
  place(page, "<title>arms: 0.875 at ");  // the mean of the first arm at log10(1,200)
  place(page, "<title>law: ");
  EXPECT_EQ(page_of(sample_report()).find("over size"), std::string::npos);
}

TEST(Page, SamplesSayWhetherTheyAreExact) {
  auto report = sample_report();
  report.data.samples[0].outputs[0] = {"sinusoidal", "vierhundert ", true};
  const auto page = page_of(report);
  place(page, "<td class=\"match exact\">exact</td><td class=\"sample\">vierhundert </td>");
  place(page, "<td class=\"match muted\">differs</td><td class=\"sample\">vierzig</td>");
}

TEST(Page, EveryPictureHasANameForThoseWhoDoNotSeeIt) {
  const auto page = page_of(sample_report());
  size_t pictures = 0;
  for (size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at, ++pictures) {
    const auto tag = page.substr(at, page.find('>', at) - at);
    EXPECT_TRUE(tag.find("aria-hidden=\"true\"") != std::string::npos ||
                (tag.find("role=\"img\"") != std::string::npos &&
                 tag.find("aria-label=\"") != std::string::npos))
        << tag;
  }
  EXPECT_GT(pictures, 10U);
}

TEST(Page, AnEmptyStudyIsAPageToo) {
  const auto page = report_page({.study = "empty", .answer = "No run has finished."}, {});
  place(page, "<h1>empty</h1>");
  place(page, "No run has finished.");
}

TEST(Page, RunsThatNeverFinishedLeaveNoNumberBehind) {
  auto report = sample_report();
  auto& sample = report.evidence.tasks[0].arms[1].cells[0].sample;
  sample = {.values = {NAN, NAN}, .count = 0, .mean = NAN, .deviation = NAN};
  EXPECT_EQ(page_of(report).find("nan"), std::string::npos);
}

TEST(Page, FiftyRunsOfTenThousandLogLinesMakeAPageOfTwoMegabytesAtMost) {
  auto report = sample_report();
  auto& task = report.evidence.tasks[0];
  const auto arm = task.arms[1];
  for (int i = 0; i < 8; ++i) {
    task.arms.push_back(arm);
    task.arms.back().name = "arm " + std::to_string(i);
  }
  report.data.runs.clear();
  for (const auto& one : task.arms)
    for (int64_t seed = 1; seed <= 5; ++seed) {
      auto run = run_record({task.name, one.name, "4 digits"}, seed);
      run.training.clear();
      for (int step = 0; step < 10'000; ++step)
        run.training.push_back({double(step), 3 + std::sin(step * 0.37 * double(seed))});
      report.data.runs.push_back(std::move(run));
    }
  ASSERT_EQ(report.data.runs.size(), 50U);
  EXPECT_LT(page_of(report).size(), 2'000'000U);
}

}  // namespace
}  // namespace ablate::report
