#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "experiments/report/table/layout.h"
#include "tests/experiments/analysis/synthetic.h"

namespace ablate::report {
namespace {

/// A study whose test set has this name.
analysis::Evidence evidence_with(const std::string& test_set) {
  auto runs = analysis::runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  for (auto& run : runs.results) {
    run.tests[0].name = test_set;
    run.tests[1].perplexity = std::numeric_limits<double>::infinity();
  }
  return analysis::make_evidence(study_of(analysis::study_yaml(2, {"more"}, analysis::kCompare)),
                                 runs);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
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
  EXPECT_EQ(lines[0][24], "seed_1");
  EXPECT_EQ(lines[1][24], "0.5");
}

TEST(JsonTable, HoldsEverythingWhateverTheNames) {
  const auto table = nlohmann::json::parse(json_table(evidence_with(kHostile)));
  const auto& arm = table.at("tasks").at(0).at("arms").at(1);
  EXPECT_EQ(arm.at("name"), "more");
  EXPECT_EQ(arm.at("changes").at(0).at("path"), "model.layers");
  const auto& cell = arm.at("cells").at(0);
  EXPECT_EQ(cell.at("sample").at("values"), nlohmann::json({0.7, 0.9}));
  EXPECT_EQ(cell.at("contrast").at("verdict"), "too_few_seeds");
  EXPECT_NE(table.dump().find("\"Infinity\""), std::string::npos);
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

TEST(TerminalTable, ShowsFiguresAndMarksTheBest) {
  const auto text = terminal_table(evidence_with("length 12"));
  for (const char* part : {"Why?", "0.550 ± 0.071", "0.800 ± 0.141*", "length 13 (beyond)",
                           "too few seeds", "No claim: 2 seeds cannot show"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto differences = text.substr(text.find("mean and difference"));
  const auto row = differences.find("  more  length 12");
  EXPECT_NE(differences.substr(row, differences.find('\n', row) - row).find('*'), std::string::npos)
      << text;
}

TEST(Tables, ShowUndefinedScoresAsADashAndNeverAsZero) {
  auto runs = analysis::runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  for (auto& run : runs.results)
    for (auto& test : run.tests) test.bleu = std::numeric_limits<double>::quiet_NaN();
  const auto evidence = analysis::make_evidence(
      study_of(analysis::study_yaml(2, {"more"}, "compare: {baseline: base, metric: bleu}\n")),
      runs);
  // The grid of differences has nothing but BLEU.
  const auto text = terminal_table(evidence);
  const auto differences = text.substr(text.find("copy: BLEU"));
  EXPECT_NE(differences.find("  more  length 12           0     -"), std::string::npos) << text;
  EXPECT_EQ(differences.find("0.0"), std::string::npos) << differences;
  for (const auto& line : parse_csv(csv_table(evidence)))
    EXPECT_TRUE(line[5] != "bleu" || line[9].empty()) << line[9];
}

TEST(Tables, ShowFurtherMetricsThatAStudyComparesByOrExpectsSomethingOf) {
  auto runs = analysis::runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  for (auto& run : runs.results) run.tests[0].rouge_2 = 0.25;
  const auto table = [&](const std::string& metric, const std::string& expected) {
    return terminal_table(analysis::make_evidence(
        study_of(analysis::study_yaml(2, {"more"},
                                      "compare: {baseline: base, metric: " + metric +
                                          "}\nexpect: [base." + expected + " > 0]\n")),
        runs));
  };
  const auto usual = table("exact_match", "exact_match");
  EXPECT_EQ(usual.find("ROUGE"), std::string::npos);
  EXPECT_NE(usual.find("valid. ppl"), std::string::npos);
  for (const auto& further : {table("rouge_2", "exact_match"), table("exact_match", "rouge_2")}) {
    EXPECT_NE(further.find("ROUGE-2"), std::string::npos);
    EXPECT_EQ(further.find("ROUGE-1"), std::string::npos);
  }
}

TEST(Tables, ShowALowerBoundAsOne) {
  auto evidence = evidence_with("length 12");
  evidence.tasks[0].arms[0].cells[0].sample.censored = {true, false};
  for (const auto& text : {terminal_table(evidence), markdown_table(evidence)}) {
    EXPECT_NE(text.find("> 0.550 "), std::string::npos) << text;
    EXPECT_EQ(text.find("0.550 ±"), std::string::npos) << text;
  }
  EXPECT_EQ(parse_csv(csv_table(evidence))[1][23], "1");
  const auto table = nlohmann::json::parse(json_table(evidence));
  EXPECT_EQ(table["tasks"][0]["arms"][0]["cells"][0]["sample"]["censored"],
            nlohmann::json({true, false}));
}

TEST(Tables, SayHowManyComparisonsHolmsCorrectionCovers) {
  const auto evidence = evidence_with("length 12");
  const std::string family = "The p values are of the one primary comparison of copy";
  for (const auto& text : {terminal_table(evidence), markdown_table(evidence),
                           latex_table(evidence), json_table(evidence)})
    EXPECT_NE(text.find(family), std::string::npos) << text;
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
    const auto bars = count(line, "|") - count(line, "\\|");
    if (columns == 0) columns = bars;
    EXPECT_EQ(bars, columns) << line;
  }
  EXPECT_EQ(text.find("<b>"), std::string::npos);
  EXPECT_NE(text.find("**0.800"), std::string::npos);
}

TEST(LatexTable, EscapesWhatWouldBeACommand) {
  const auto text = latex_table(evidence_with(kHostile));
  EXPECT_NE(text.find("a,\\textquotedbl{}b\\textquotedbl{}\\textbar{}c\\textbackslash{}d\\_e\\%f\\&"
                      "g\\#h\\$i\\{j\\}\\textasciitilde{}\\textasciicircum{}"),
            std::string::npos)
      << text;
  EXPECT_EQ(count(text, "\\begin{tabular}"), count(text, "\\end{tabular}"));
  EXPECT_EQ(count(text, "\\toprule"), count(text, "\\bottomrule"));
  EXPECT_NE(text.find("$\\pm$"), std::string::npos);
}

TEST(LatexTable, SetsMinusSignsAndLeavesHyphens) {
  auto runs = analysis::runs_of({{"base", {0.7, 0.9}}, {"re-2-used", {0.5, 0.6}}});
  const auto text = latex_table(analysis::make_evidence(
      study_of(analysis::study_yaml(2, {"re-2-used"}, analysis::kCompare)), runs));
  EXPECT_NE(text.find("$-$0.250 {[}$-$"), std::string::npos) << text;
  EXPECT_NE(text.find("re-2-used"), std::string::npos) << text;
  EXPECT_EQ(text.find(" -0"), std::string::npos) << text;
}

TEST(Tables, NameRunsThatAreMissingForOneReasonInOneLine) {
  auto evidence = evidence_with("length 12");
  for (int seed = 1; seed <= 5; ++seed)
    evidence.missing.push_back({"copy", "more", seed, "not started"});
  evidence.missing.push_back({"copy", "base", 2, "interrupted"});
  const auto text = terminal_table(evidence);
  EXPECT_NE(text.find("missing: copy/more/seed-1, copy/more/seed-2, copy/more/seed-3 and 2 more: "
                      "not started\nmissing: copy/base/seed-2: interrupted\n"),
            std::string::npos)
      << text;
}

TEST(Tables, ShowWhatTuningTriedAndChose) {
  auto evidence = evidence_with("length 12");
  evidence.tuning = {.key = "training.schedule.peak",
                     .metric = "validation_perplexity",
                     .seeds = {1, 2},
                     .tried = {{"copy", "more", "0.1", analysis::kUntested, false},
                               {"copy", "more", "0.001", 3.5, true}}};
  const auto text = terminal_table(evidence);
  EXPECT_NE(
      text.find("values of training.schedule.peak by validation perplexity, mean over seeds 1, "
                "2\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("0.1               diverged"), std::string::npos) << text;
  EXPECT_NE(text.find("3.500  chosen"), std::string::npos) << text;
  const auto tried = nlohmann::json::parse(json_table(evidence)).at("tuning").at("tried");
  EXPECT_EQ(tried[0].at("score"), "NaN");
  EXPECT_EQ(tried[1].at("score"), 3.5);
}

}  // namespace
}  // namespace ablate::report
