#include <gtest/gtest.h>

#include <sstream>
#include <tuple>

#include "experiments/report/table/grid.h"
#include "experiments/report/table/layout.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// Two sizes of two arms with six seeds, the effect growing with the size.
analysis::Evidence ladder_evidence(const std::string& arm = "more") {
  records::StudyRuns all{.folder = {"none/s"}};
  for (const auto& [setting, parameters, effect] :
       {std::tuple{"copy-small", 1'000, 0.1}, {"copy-large", 10'000, 0.3}}) {
    std::vector<double> base{0.1, 0.2, 0.3, 0.1, 0.2, 0.3}, other;
    for (size_t i = 0; i < base.size(); ++i)
      other.push_back(base[i] + effect + 0.01 * static_cast<double>(i));
    for (auto& run : analysis::runs_of({{"base", base}, {arm, other}}).results) {
      run.task = setting;
      run.parameters = parameters;
      all.results.push_back(std::move(run));
    }
  }
  return analysis::evidence_of(
      analysis::study_yaml(
          6, {arm},
          analysis::kCompare +
              "sizes: {small: {model.d_model: 64}, large: {model.d_model: 128}}\n"),
      all);
}

TEST(TerminalTable, ShowsALadderBeforeItsSettings) {
  const auto text = terminal_table(ladder_evidence());
  EXPECT_EQ(text.find("Why?\nmore: better at both sizes (0.125 to 0.325 exact match more); its "),
            0U)
      << text;
  const auto ladder = text.find("\nOver sizes: copy, exact match on length 12\n");
  ASSERT_NE(ladder, std::string::npos) << text;
  EXPECT_LT(ladder, text.find("copy-small: exact match, difference from the baseline"));
  EXPECT_TRUE(
      says(text, "  more  small        0.325       0.125  [0.100, 0.150]          0.031\n"));
}

TEST(TerminalTable, ALadderFitsAHundredColumnsWhateverTheNames) {
  const auto grids = short_grids_of(ladder_evidence(std::string(90, 'x')));
  std::istringstream lines(layout(grids.front()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width(line), 100U) << line;
}

TEST(TextTable, ALadderSaysWhatIsCorrected) {
  const auto text = text_table(ladder_evidence());
  const auto ladder = text.find("\nOver sizes: copy, exact match on length 12\n");
  ASSERT_NE(ladder, std::string::npos) << text;
  EXPECT_LT(ladder, text.find("copy-small: exact match, mean and difference"));
  EXPECT_NE(text.find("p (corrected)\n", ladder), std::string::npos) << text;
  EXPECT_NE(text.find(kLadderCorrection, ladder), std::string::npos) << text;
  EXPECT_TRUE(says(text, "  parameters (of the baseline)  n  ")) << "not of the arm";
}

}  // namespace
}  // namespace ablate::report
