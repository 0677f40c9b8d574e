#include "experiments/report/page/page.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/report/page/sample_report.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

size_t place(const std::string& page, const std::string& what) {
  const auto found = page.find(what);
  EXPECT_NE(found, std::string::npos) << what;
  return found;
}

/// The page from the first `begin` to the `end` behind it.
std::string part(const std::string& page, const std::string& begin, const std::string& end) {
  const auto at = place(page, begin);
  return page.substr(at, page.find(end, at + 1) - at);
}

std::string first_other_row(const std::string& page) {
  return part(page, "<tr class=\"other\">", "</tr>");
}

/// The first table of results.
std::string first_table(const std::string& page) {
  return part(page, "<table class=\"ablation\">", "</table>");
}

TEST(Page, SaysQuestionAnswerAndMissingRunsBeforeAnyResult) {
  const auto page = page_of(sample_report());
  const auto question = place(page, "<h1>Does it matter?</h1>");
  const auto answer = place(page, "<p class=\"answer\">It does not.</p>");
  const auto missing = place(page, "<h2>1 run is missing</h2>");
  const auto picture = place(page, "<svg class=\"forest\"");
  EXPECT_LT(question, answer);
  EXPECT_LT(answer, picture);
  EXPECT_LT(picture, missing);
  EXPECT_LT(missing, place(page, "<h2>Results</h2>"));
  place(page, "failed: no memory");
}

TEST(Page, NamesTheMetricOfEachTaskIfTheyDiffer) {
  auto report = sample_report();
  place(page_of(report), "<dt>primary metric</dt><dd>exact match</dd>");
  auto& tasks = report.evidence.tasks;
  tasks.front().declared_metric = "loss";
  tasks.push_back(tasks.front());
  tasks.back().declared_metric = "bleu";
  tasks.back().setting.task = "pairs";
  place(page_of(report),
        "<dt>primary metric</dt><dd>BLEU (pairs), loss (" + tasks.front().setting.task + ")</dd>");
}

TEST(Page, ARowOfTheTableHoldsTheEvidence) {
  const auto page = page_of(sample_report());
  place(page, ">exact match on 4 digits, difference from sinusoidal<");
  const auto html = first_other_row(page);
  for (const auto* figure :
       {"learned", "key: learned value", "0.812", "[0.792, 0.833]", "seed 1: 0.750",
        "seed 2: 0.875", "\u22120.062", "[\u22120.500, 0.375]", "pair 2: +0.125", ">0.75<",
        ">1.00<", "\u00b7 inconclusive"})
    EXPECT_TRUE(says(html, figure)) << figure << " in\n" << html;
}

TEST(Page, CostsHaveTablesOfTheirOwnThatOpen) {
  const auto page = page_of(sample_report());
  EXPECT_FALSE(says(first_table(page), "memory"));
  const auto html = part(page, "<details><summary>Costs</summary>", "<h3>");
  for (const auto* figure : {"memory", ">1.20 k<", ">2.40 k<", ">50<", ">400<", ">20.0 M<",
                             ">2.62<", ">300 MB<", "To reach a loss of 1,", "0.85 (0.75 to 0.95)"})
    EXPECT_TRUE(says(html, figure)) << figure << " in\n" << html;
}

TEST(Page, LossesComeFirstOverStepsAndFoldedOverOtherCosts) {
  const auto page = page_of(sample_report());
  const auto training = place(page, "<strong>Training loss</strong>");
  const auto folded = place(page, "<summary>Losses over tokens, FLOPs and seconds</summary>");
  EXPECT_LT(training, place(page, "<strong>Validation loss</strong>"));
  EXPECT_LT(training, folded);
  EXPECT_LT(folded, place(page, "<summary>Token accuracy at each position</summary>"));
  for (const auto* axis :
       {">step<", ">target tokens<", ">FLOPs of training<", ">seconds of training<"})
    place(page, axis);
}

TEST(Page, ThePictureOfCostsHasEachArmAndItsSeeds) {
  const auto page = page_of(sample_report());
  const auto html = part(page, "exact match, 4 digits over seconds of training", "</svg>");
  EXPECT_EQ(occurrences(html, "class=\"dot\""), 4U) << "two arms of two seeds";
  place(html, "learned: 0.8125 at 2.62 seconds of training");
  EXPECT_TRUE(says(html, ">exact match</text>")) << "with its test set it is longer than the axis";
  place(page, ">What each seed costs and reaches: exact match, 4 digits.<");
}

TEST(Page, OneSeedHasNoBand) {
  auto report = sample_report();
  std::erase_if(report.data.runs, [](const RunRecord& run) { return run.seed == 2; });
  EXPECT_FALSE(says(page_of(report), "from the lowest to the highest"));
}

TEST(Page, ARowShowsEveryKeyThatTheArmHasAndTheBaselineLacks) {
  auto report = sample_report();
  auto& changes = report.evidence.tasks[0].arms[1].changes;
  changes = {{"kind", "full", "window"}, {"size", "", "8"}, {"heads", "4", ""}};
  const auto html = first_other_row(page_of(report));
  place(html, "kind: window");
  place(html, "size: 8");
  EXPECT_FALSE(says(html, "heads")) << "another kind leaves it behind";
}

TEST(Page, ShowsTheChosenValuesAndTheScoresOfAllThatWereTried) {
  const auto page = page_of(sample_report());
  const auto html = page.substr(place(page, "<h2>Chosen values</h2>"));
  for (const auto* figure :
       {"training.schedule.peak", "seeds 101, 102", ">0.004<", ">3.500<", ">0.250<",
        "peak at the edge of its grid", "3 trial runs to go", "class=\"ring\"",
        "sinusoidal: 3.5 at training.schedule.peak 0.004", ">diverged<", ">added<", ">chosen<"})
    EXPECT_TRUE(says(html, figure));
  EXPECT_FALSE(says(html, "at training.schedule.peak 0.016"))
      << "a value that diverged has no point";
}

TEST(Page, TheBestCellIsTheOneThatTheEvidenceMarks) {
  auto report = sample_report();
  auto& cells = report.evidence.tasks[0].arms[1].cells;
  EXPECT_FALSE(says(page_of(report), "<strong>0.812</strong>"));
  cells[0].best = true;
  const auto page = page_of(report);
  place(page, "<strong>0.812</strong>");
  place(page, "<strong>0.812 \u00b1 0.010</strong>");
}

TEST(Page, TheFamilyOfComparisonsAndTheTestsOfAMarginAreSaid) {
  auto report = sample_report();
  auto& task = report.evidence.tasks[0];
  task.family = "Holm's correction covers all 2 of them.";
  task.arms[1].cells[0].contrast->claim = {config::ClaimKind::equal, 0.01};
  task.arms[1].cells[0].contrast->outcome = analysis::Outcome::inconclusive;
  task.arms[1].cells[0].contrast->within = {0.0625, 0.125};
  task.with_margins = 2;
  task.arms[1].cells[0].contrast->verdict = analysis::Verdict::inconclusive;
  const auto page = page_of(report);
  place(page, "Holm&#39;s correction covers all 2 of them.");
  place(page, ">p<span class=\"below\">below margin, corrected</span>");
  place(page, "<span class=\"below\">claim: inconclusive</span>");
  place(page, "<td class=\"number wide\">0.062</td><td class=\"number wide\">0.12</td>");
  place(page, "\u00b7 inconclusive");
}

TEST(Page, RowsSayHowManySeedsTheyHaveAndOneThatItIsTheBaseline) {
  auto report = sample_report();
  report.evidence.tasks[0].arms[1].cells[0].sample = sample({0.75});
  const auto table = first_table(page_of(report));
  place(table, "<td class=\"number wide\">1</td>");
  place(table, "<td class=\"number wide\">2</td>");
  EXPECT_EQ(occurrences(table, ">baseline<"), 1U);
}

TEST(Page, OnlyAVerdictThatClaimsSomethingIsBold) {
  auto report = sample_report();
  auto& verdict = report.evidence.tasks[0].arms[1].cells[0].contrast->verdict;
  for (const auto& [one, kind] : {std::pair{analysis::Verdict::better, "verdict claim better"},
                                  {analysis::Verdict::worse, "verdict claim worse"},
                                  {analysis::Verdict::equivalent, "verdict claim equivalent"},
                                  {analysis::Verdict::too_few_seeds, "verdict"},
                                  {analysis::Verdict::exploratory, "verdict"}}) {
    verdict = one;
    place(first_other_row(page_of(report)), std::string("<td class=\"") + kind + "\">");
  }
}

TEST(Page, TestSetsOnWhichEveryRunScoresZeroShareALine) {
  auto report = sample_report();
  for (auto& arm : report.evidence.tasks[0].arms) {
    arm.cells[1].sample = sample({0, 0});
    arm.cells[1].primary = false;
    auto further = arm.cells[1];
    further.test_set = "6 digits";
    arm.cells.push_back(further);
  }
  auto page = page_of(report);
  place(page, ">5 digits more (beyond); 6 digits (beyond): exact match is 0 in every run.<");
  const auto tables = occurrences(page, "<table class=\"ablation\">");
  report.evidence.tasks[0].arms[1].cells[2].sample = sample({0, 0.5});
  page = page_of(report);
  place(page, ">5 digits more (beyond): exact match is 0 in every run.<");
  EXPECT_EQ(occurrences(page, "<table class=\"ablation\">"), tables + 1);
}

TEST(Page, AShortNameStaysInOneLineAndALongOneMayBreak) {
  auto report = sample_report();
  report.evidence.tasks[0].arms[1].name = "thirteen-long";
  place(page_of(report), "<span class=\"short\">thirteen-long</span>");
  report.evidence.tasks[0].arms[1].name = "fourteen-signs";
  place(page_of(report), "<span class=\"long\">fourteen-signs</span>");
}

TEST(Page, LinksTheFilesBesideItForAPaper) {
  const auto page = page_of(sample_report());
  for (const auto* file : {"table.tex", "results.csv", "forest.svg"})
    EXPECT_EQ(occurrences(page, std::string("<a href=\"") + file + "\">"), 1U) << file;
  auto none = sample_report();
  for (auto& arm : none.evidence.tasks[0].arms)
    for (auto& cell : arm.cells) cell.contrast.reset();
  EXPECT_FALSE(says(page_of(none), "forest.svg"));
}

TEST(Page, ABibTeXEntryNamesTheStudyAndTheOneProgramOfItsRuns) {
  auto report = sample_report();
  report.data.environment.push_back({"ablate", {{"0.1.0", 3}}});
  const auto entry = "@misc{ablate-" + report.evidence.study;
  place(page_of(report), entry);
  place(page_of(report), "note = {Study run by Ablate 0.1.0}");
  report.data.environment.back().values.push_back({"0.2.0", 1});
  place(page_of(report), "note = {Study run by Ablate}");
}

TEST(Page, PicturesOfPositionSchemesAreFolded) {
  const auto page = page_of(sample_report());
  const auto section = place(page, "<section id=\"positions\">");
  const auto fold = place(page, "<details><summary>Pictures of learned scheme</summary>");
  EXPECT_LT(section, fold);
  EXPECT_LT(fold, page.find("<h3>learned scheme</h3>"));
  place(page, "Arms: an arm; drawn with 2 positions, whatever they have");
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
  EXPECT_FALSE(says(page_of(report), "over length"));
}

TEST(Page, SaysInWordsWhatAFailedExpectationATestSetAndAConfigurationAreOf) {
  const auto page = page_of(sample_report());
  place(page,
        "<li class=\"fails\"><strong>\u2717 fails</strong><code>learned &gt; sinusoidal</code>"
        "<span class=\"muted\">0.1 and 0.2</span></li>");
  place(page, ">5 digits more (beyond)<");
  place(page, "Full configuration of the baseline, first seed, in ");
}

TEST(Page, WhatWasObservedHasACurveForEveryPlaceAndItsLastFiguresByHead) {
  const auto page = page_of(sample_report());
  const auto section = place(page, "<h3>Inside the models</h3>");
  EXPECT_GT(place(page, "sinusoidal: attention entropy"), section);
  place(page, "<title>decoder.0.cross: 1.25 at step 10</title>");
  place(page, "<title>learned: 300 at step 20</title>");
  place(page, "Heads of learned, seed 1");
  place(page, "<title>head 1: 1.5 at step 10</title>");
  place(page, "Last observation of learned, after step 20");
  place(page,
        "<tr><th scope=\"row\">decoder.layers.0.cross_attention</th><td>attention entropy</td>"
        "<td class=\"number\">1</td><td class=\"number\">0.5</td><td class=\"number\">1.5</td>");
  auto report = sample_report();
  for (auto& run : report.data.runs) run.observed.clear();
  EXPECT_FALSE(says(page_of(report), "Inside the models"));
}

TEST(Page, ARunOfVeryManyHeadsShowsTheFirstAndSaysWhereTheOthersAre) {
  auto report = sample_report();
  EXPECT_FALSE(says(page_of(report), "These are the first"));
  auto& observed = report.data.runs.front().observed;
  observed.assign(25, observed.front());
  observed.back().place = "encoder.layers.7.attention";
  const auto page = page_of(report);
  place(page, "These are the first 24 of 25 charts");
  EXPECT_FALSE(says(page, "encoder.7: attention entropy of each head"));
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
  task.arms[1].control = true;
  EXPECT_LT(occurrences(page_of(report), "<title>arms: "), occurrences(page, "<title>arms: "))
      << "the law is of the arms without the control";
  EXPECT_FALSE(says(page_of(sample_report()), "over size"));
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
  EXPECT_FALSE(says(page_of(report), "nan"));
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
