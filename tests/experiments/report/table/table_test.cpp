#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "experiments/analysis/figure.h"
#include "experiments/report/table/grid.h"
#include "experiments/report/table/layout.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// A study whose test set has this name.
analysis::Evidence evidence_with(const std::string& test_set) {
  auto runs = analysis::runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  for (auto& run : runs.results) {
    run.tests[0].name = test_set;
    run.tests[1].perplexity = std::numeric_limits<double>::infinity();
  }
  return analysis::evidence_of(analysis::study_yaml(2, {"more"}, analysis::kCompare), runs);
}

/// Fields of each line of a CSV text, by the rules of RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    auto& field = lines.back().back();
    if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      lines.back().emplace_back();
    } else if (!quoted && text[i] == '\n') {
      lines.push_back({""});
    } else {
      field += text[i];
    }
  }
  lines.pop_back();
  return lines;
}

const std::string kHostile = "a,\"b\"|c\\d_e%f&g#h$i{j}~^<b>[x](y)*`\n\033[31m\xff";

TEST(CsvTable, IsReadBackWhateverTheNames) {
  const auto evidence = evidence_with(kHostile);
  const auto lines = parse_csv(csv_table(evidence));
  size_t cells = 0;
  for (const auto& arm : evidence.tasks.front().arms) cells += arm.cells.size();
  ASSERT_EQ(lines.size(), cells + 1);
  for (const auto& line : lines) ASSERT_EQ(line.size(), lines.front().size());
  EXPECT_EQ(lines[1][3], kHostile);
  EXPECT_EQ(lines[0][28], "seed_1");
  EXPECT_EQ(lines[1][28], "0.5");
}

TEST(Statements, StandWithTheirSourcesInResultsAndBesideTheOutcomeInEveryReport) {
  const auto evidence = analysis::evidence_of(
      analysis::study_yaml(6, {"a", "b", "c", "d"},
                           analysis::compare("claim: superior, says: It helps., source: Doe 2020, "
                                             "arms: {b: {says: B helps.}, c: {claim: inferior}, "
                                             "d: {regime: {depth: [90, 90]}}}")),
      {{"base", {0.6, 0.6, 0.6, 0.6, 0.6, 0.6}},
       {"a", {0.9, 0.9, 0.9, 0.9, 0.9, 0.9}},
       {"b", {0.3, 0.3, 0.3, 0.3, 0.3, 0.3}},
       {"c", {0.6, 0.6, 0.6, 0.6, 0.6, 0.6}},
       {"d", {0.6, 0.6, 0.6, 0.6, 0.6, 0.6}}});
  const auto arms = nlohmann::json::parse(json_table(evidence)).at("tasks").at(0).at("arms");
  const auto found = [&](size_t arm) { return arms.at(arm).at("cells").at(0).at("contrast"); };
  EXPECT_EQ(found(1).at("says"), "It helps.");
  EXPECT_EQ(found(1).at("source"), "Doe 2020");
  EXPECT_EQ(found(2).at("says"), "B helps.");
  EXPECT_EQ(found(2).at("source"), "Doe 2020");
  EXPECT_FALSE(found(3).contains("says")) << "a claim of its own is not what the others say";
  for (const auto* line : {"Claim on a: \"It helps.\" (Doe 2020): agrees (copy, length 12).",
                           "Claim on b: \"B helps.\" (Doe 2020): other sign (copy, length 12).",
                           "Claim on c: Doe 2020: inconclusive (copy, length 12).",
                           "Claim on d: \"It helps.\" (Doe 2020): inconclusive, outside the "
                           "source's regime (copy, length 12)."})
    EXPECT_EQ(std::ranges::count(evidence.notes, line), 1) << line;
}

TEST(JsonTable, HoldsEverythingWhateverTheNames) {
  const auto table = nlohmann::json::parse(json_table(evidence_with(kHostile)));
  const auto& arm = table.at("tasks").at(0).at("arms").at(1);
  EXPECT_EQ(arm.at("name"), "more");
  EXPECT_EQ(arm.at("changes").at(0).at("path"), "model.layers");
  const auto& cell = arm.at("cells").at(0);
  EXPECT_EQ(cell.at("sample").at("values"), nlohmann::json({0.7, 0.9}));
  EXPECT_EQ(cell.at("contrast").at("verdict"), "too_few_seeds");
  EXPECT_TRUE(says(table.dump(), "\"Infinity\""));
}

TEST(Tables, HoldTheCostsOfEachArmAndTheirRatios) {
  auto evidence = evidence_with("length 12");
  auto& task = evidence.tasks[0];
  EXPECT_FALSE(says(text_table(evidence), "cost to reach"));
  task.target = "a loss of 1";
  task.arms[1].training_flops = {.values = {2e9, 4e9}, .count = 2, .mean = 3e9};
  task.arms[1].cost_ratios = {{.resource = config::Resource::flops,
                               .values = {1, 0.5},
                               .bounds = {analysis::Bound::above, analysis::Bound::exact}}};
  const auto text = text_table(evidence);
  const auto costs = text.substr(text.find("copy: costs of training"));
  EXPECT_TRUE(says(costs, "3.00 G"));
  const auto ratios = costs.substr(costs.find("copy: cost to reach a loss of 1, / the baseline's"));
  EXPECT_TRUE(says(ratios, "> 1.00 in 1 of 2 seeds"));
  const auto arm = nlohmann::json::parse(json_table(evidence)).at("tasks").at(0).at("arms").at(1);
  EXPECT_EQ(arm.at("training_flops").at("mean"), 3e9);
  const auto& ratio = arm.at("cost_ratios").at(0);
  EXPECT_EQ(ratio.at("resource"), "flops");
  EXPECT_EQ(ratio.at("values"), nlohmann::json({1.0, 0.5}));
  EXPECT_EQ(ratio.at("bounds"), nlohmann::json({"above", "exact"}));
  EXPECT_EQ(ratio.at("mean"), "NaN");
}

TEST(JsonTable, HoldsTheFitsOfATask) {
  auto evidence = evidence_with("length 12");
  EXPECT_FALSE(nlohmann::json::parse(json_table(evidence)).at("tasks").at(0).contains("fits"));
  evidence.tasks[0].fits = {{.test_set = "length 12",
                             .metric = "perplexity",
                             .law = {.factor = 2, .exponent = -0.125, .r_squared = 0.5},
                             .exponents = {.values = {-0.25, 0}, .count = 2, .mean = -0.125}}};
  const auto fits = nlohmann::json::parse(json_table(evidence)).at("tasks").at(0).at("fits");
  ASSERT_EQ(fits.size(), 1U);
  const auto& fit = fits[0];
  EXPECT_EQ(fit.at("metric"), "perplexity");
  EXPECT_EQ(fit.at("factor"), 2);
  EXPECT_EQ(fit.at("exponent"), -0.125);
  EXPECT_EQ(fit.at("r_squared"), 0.5);
  EXPECT_EQ(fit.at("exponents").at("values"), nlohmann::json({-0.25, 0}));
}

TEST(TerminalTable, LetsNoControlCharacterThrough) {
  for (const char byte : terminal_table(evidence_with(kHostile)))
    EXPECT_TRUE(byte == '\n' || static_cast<unsigned char>(byte) >= 0x20);
}

/// Six arms with long names on four test sets, six seeds each.
analysis::Evidence wide_evidence() {
  std::vector<std::string> names;
  analysis::Scores scores{{"base", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}}};
  for (int i = 1; i <= 6; ++i) {
    names.push_back(fmt::format("rotary-positions-with-a-wider-window-and-more-heads-{}", i));
    scores[names.back()] = {0.7, 0.8, 0.9, 0.7, 0.8, 0.9};
  }
  auto runs = analysis::runs_of(scores);
  for (auto& run : runs.results) {
    run.tests[0].name = "a test set with a name of some length";
    for (int more = 0; more < 4; ++more) {
      run.tests.push_back(run.tests[1]);
      run.tests.back().name = fmt::format("a further test set of long sequences {}", more);
    }
  }
  return analysis::evidence_of(analysis::study_yaml(6, names, analysis::kCompare), runs);
}

TEST(TerminalTable, TablesFitAHundredColumns) {
  const auto evidence = wide_evidence();
  const auto grids = short_grids_of(evidence);
  ASSERT_EQ(grids.size(), 2U);
  for (const auto& grid : grids) {
    std::istringstream lines(layout(grid));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), 100U) << line;
  }
  EXPECT_EQ(grids[0].rows.size(), 6U) << "every verdict, whatever the names";
  EXPECT_EQ(grids[1].rows.size(), 7U);
  for (const auto& grid : grids) {
    std::set<std::string> arms;
    for (const auto& row : grid.rows) arms.insert(row[0].text);
    EXPECT_EQ(arms.size(), grid.rows.size()) << "names that are cut still tell arms apart";
  }
}

TEST(TerminalTable, BreaksSentencesAtWords) {
  auto evidence = analysis::evidence_of(analysis::study_yaml(2, {"more"}, analysis::kCompare),
                                        {{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  const auto words = [](const std::string& word) {
    std::string all = word;
    for (int i = 0; i < 40; ++i) all += " " + word;
    return all + "\n";
  };
  evidence.question = words("question");
  evidence.answer = words("answer") + words("more");
  evidence.notes = {words("note")};
  std::istringstream lines(terminal_table(evidence));
  std::string joined;
  for (std::string line; std::getline(lines, line); joined += line + " ")
    EXPECT_LE(width(line), 100U) << line;
  for (const char* word : {"question question", "answer answer", "note   note", "answer more"})
    EXPECT_TRUE(says(joined, word));
}

TEST(TerminalTable, LeadsWithTheDeclaredMetricWithoutTheBaseline) {
  const auto study =
      study_of(analysis::study_yaml(2, {"more"}, "compare: {baseline: base, metric: perplexity}\n"),
               {.arms = {"more"}});
  const auto text =
      terminal_table(analysis::make_evidence(study, analysis::runs_of({{"more", {0.7, 0.9}}})));
  EXPECT_TRUE(says(text, "\ncopy: perplexity, mean "));
}

TEST(TerminalTable, SaysTheVerdictsFirstAndWhereTheRestIs) {
  const auto text = terminal_table(evidence_with("length 12"));
  const auto verdicts = text.find("copy: exact match, difference from the baseline\n");
  const auto means = text.find("copy: exact match, mean ± standard deviation over seeds\n");
  ASSERT_NE(verdicts, std::string::npos) << text;
  ASSERT_NE(means, std::string::npos) << text;
  EXPECT_LT(verdicts, means);
  EXPECT_TRUE(says(text, "  arm   test set   difference"));
  EXPECT_TRUE(says(text, "  more  length 12       0.250"));
  EXPECT_TRUE(says(text, "0.800 ± 0.141*"));
  EXPECT_FALSE(says(text, "perplexity")) << "only the metric of the claims";
  EXPECT_TRUE(text.ends_with("Every metric and test set: table.txt\n")) << text;
}

TEST(Tables, ShowWhatEachTestCouldHaveSeenAndHowManySeedsCollapsed) {
  const std::vector<double> high(8, 0.9);
  auto spread = high, broken = high;
  for (size_t i = 0; i < spread.size(); ++i) spread[i] -= 0.01 * static_cast<double>(i);
  broken[3] = 0.1;
  const auto evidence =
      analysis::evidence_of(analysis::study_yaml(8, {"spread", "broken"}, analysis::kCompare),
                            {{"base", high}, {"spread", spread}, {"broken", broken}});
  const auto cell = analysis::cell_of(evidence, "spread");
  const auto seen = analysis::format_metric(cell.contrast->detectable.value(), cell.metric);
  const auto line_of = [](const std::string& text, const std::string& start) {
    const auto at = text.find(start, text.find("difference from the baseline"));
    return text.substr(at, text.find('\n', at) - at);
  };
  const auto text = text_table(evidence);
  EXPECT_TRUE(says(text, "could see"));
  EXPECT_TRUE(says(line_of(text, "  spread"), " " + seen + " ")) << text;
  EXPECT_TRUE(line_of(text, "  broken").ends_with("unstable: 1 of 8 seeds")) << text;
  const auto terminal = terminal_table(evidence);
  EXPECT_TRUE(says(
      terminal, "\nabout 80 % of such studies would show a difference of " + seen + " (spread)\n"));
  EXPECT_TRUE(says(line_of(terminal, "  broken"), "unstable: 1 of 8 seeds"));
}

TEST(TextTable, ShowsFiguresAndMarksTheBest) {
  const auto text = text_table(evidence_with("length 12"));
  for (const char* part : {"Why?", "0.550 ± 0.071", "0.800 ± 0.141*", "length 13 (beyond)",
                           "too few seeds", "No claim: 2 seeds can show no difference"})
    EXPECT_TRUE(says(text, part));
  const auto differences = text.substr(text.find("mean and difference"));
  const auto row = differences.find("  more  length 12");
  EXPECT_NE(differences.substr(row, differences.find('\n', row) - row).find('*'), std::string::npos)
      << text;
}

TEST(Tables, ShowUndefinedScoresAsADashAndNeverAsZero) {
  auto runs = analysis::runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  for (auto& run : runs.results)
    for (auto& test : run.tests) test.bleu = std::numeric_limits<double>::quiet_NaN();
  const auto evidence = analysis::evidence_of(
      analysis::study_yaml(2, {"more"}, "compare: {baseline: base, metric: bleu}\n"), runs);
  // The grid of differences has nothing but BLEU.
  const auto text = text_table(evidence);
  const auto differences = text.substr(text.find("copy: BLEU"));
  EXPECT_TRUE(says(differences, "  more  length 12           0     -")) << text;
  EXPECT_FALSE(says(differences, "0.0"));
  for (const auto& line : parse_csv(csv_table(evidence)))
    EXPECT_TRUE(line[5] != "bleu" || line[9].empty()) << line[9];
}

TEST(Tables, ShowFurtherMetricsThatAStudyComparesByOrExpectsSomethingOf) {
  auto runs = analysis::runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  for (auto& run : runs.results) run.tests[0].rouge_2 = 0.25;
  const auto table = [&](const std::string& metric, const std::string& expected) {
    return text_table(
        analysis::evidence_of(analysis::study_yaml(2, {"more"},
                                                   "compare: {baseline: base, metric: " + metric +
                                                       "}\nexpect: [base." + expected + " > 0]\n"),
                              runs));
  };
  const auto usual = table("exact_match", "exact_match");
  EXPECT_FALSE(says(usual, "ROUGE"));
  EXPECT_TRUE(says(usual, "valid. ppl"));
  for (const auto& further : {table("rouge_2", "exact_match"), table("exact_match", "rouge_2")}) {
    EXPECT_TRUE(says(further, "ROUGE-2"));
    EXPECT_FALSE(says(further, "ROUGE-1"));
  }
}

TEST(Tables, ShowALowerBoundAsOne) {
  auto evidence = evidence_with("length 12");
  evidence.tasks[0].arms[0].cells[0].sample.censored = {true, false};
  evidence.tasks[0].arms[0].cells[1].sample.at_once = {false, true};
  for (const auto& text : {text_table(evidence), markdown_table(evidence)}) {
    EXPECT_TRUE(says(text, "> 0.550 "));
    EXPECT_FALSE(says(text, "0.550 ±"));
  }
  EXPECT_EQ(parse_csv(csv_table(evidence))[1][27], "1");
  const auto table = nlohmann::json::parse(json_table(evidence));
  EXPECT_EQ(table["tasks"][0]["arms"][0]["cells"][0]["sample"]["censored"],
            nlohmann::json({true, false}));
  EXPECT_EQ(table["tasks"][0]["arms"][0]["cells"][1]["sample"]["at_once"],
            nlohmann::json({false, true}));
}

TEST(Tables, SayHowManyComparisonsHolmsCorrectionCovers) {
  const auto evidence = evidence_with("length 12");
  const std::string family = "The p values are of the one primary comparison of copy";
  for (const auto& text : {text_table(evidence), markdown_table(evidence), latex_table(evidence),
                           json_table(evidence)})
    EXPECT_TRUE(says(text, family));
}

TEST(MarkdownTable, EveryRowHasTheColumnsOfItsHeading) {
  size_t columns = 0;
  const auto text = markdown_table(evidence_with(kHostile));
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    const auto line = text.substr(begin, end - begin);
    if (!line.starts_with("|")) {
      columns = 0;
      continue;
    }
    const auto bars = occurrences(line, "|") - occurrences(line, "\\|");
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
  }
  EXPECT_FALSE(says(text, "<b>"));
  EXPECT_TRUE(says(text, "**0.800"));
}

TEST(LatexTable, EscapesWhatWouldBeACommand) {
  const auto text = latex_table(evidence_with(kHostile));
  EXPECT_TRUE(says(text,
                   "a,''b''\\textbar{}c\\textbackslash{}d\\_e\\%f\\&"
                   "g\\#h\\$i\\{j\\}\\textasciitilde{}\\textasciicircum{}"));
  EXPECT_EQ(occurrences(text, "\\begin{tabular}"), occurrences(text, "\\end{tabular}"));
  EXPECT_EQ(occurrences(text, "\\toprule"), occurrences(text, "\\bottomrule"));
  EXPECT_TRUE(says(text, "$\\pm$"));
}

TEST(LatexTable, SetsMinusSignsAndLeavesHyphens) {
  auto runs = analysis::runs_of(
      {{"base", {0.7, 0.9, 0.7, 0.9, 0.7, 0.9}}, {"re-2-used", {0.5, 0.6, 0.5, 0.6, 0.5, 0.6}}});
  const auto text = latex_table(
      analysis::evidence_of(analysis::study_yaml(6, {"re-2-used"}, analysis::kCompare), runs));
  EXPECT_TRUE(says(text, "$-$0.250 {[}$-$"));
  EXPECT_TRUE(says(text, "re-2-used"));
  EXPECT_FALSE(says(text, " -0"));
}

TEST(Tables, NameRunsThatAreMissingForOneReasonInOneLine) {
  auto evidence = evidence_with("length 12");
  for (int seed = 1; seed <= 5; ++seed)
    evidence.missing.push_back({"copy", "more", seed, "not started"});
  evidence.missing.push_back({"copy", "base", 2, "interrupted"});
  const auto text = terminal_table(evidence);
  EXPECT_TRUE(says(text,
                   "missing: copy/more/seed-1, copy/more/seed-2, copy/more/seed-3 and 2 more: "
                   "not started\nmissing: copy/base/seed-2: interrupted\n"));
}

TEST(TextTable, ShowsScoresOfWhichTheFirstArmHasNone) {
  const auto study = study_of(analysis::study_yaml(2, {"more"}, analysis::kCompare));
  const auto text =
      text_table(analysis::make_evidence(study, analysis::runs_of({{"more", {0.7, 0.9}}})));
  const auto scores = text.substr(0, text.find("mean and difference"));
  EXPECT_TRUE(says(scores, "0.800 ± 0.141")) << text;
}

TEST(Tables, SayHowManyTasksAndSettingsAnAggregateCovers) {
  auto evidence = evidence_with("length 12");
  evidence.aggregates = {
      {.arm = "more", .interval = {}, .improvement = {}, .tasks = 2, .settings = 2}};
  EXPECT_TRUE(says(text_table(evidence), "\nover 2 tasks: exact match on the first test set "));
  evidence.aggregates.front().settings = 6;
  EXPECT_TRUE(says(text_table(evidence), "\nover 2 tasks in 6 settings: exact match"));
  EXPECT_EQ(aggregate_grid(evidence).rows.front().back().text, "-")
      << "a setting lacks the baseline";
  evidence.aggregates.front().arm = "base";
  EXPECT_EQ(aggregate_grid(evidence).rows.front().back().text, "baseline");
}

}  // namespace
}  // namespace ablate::report
