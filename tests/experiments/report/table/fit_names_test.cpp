#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "experiments/analysis/contrast.h"
#include "experiments/report/table/grid.h"

namespace ablate::report {
namespace {

/// The rows of a terminal's table for one arm over a key, with numbers that leave little room.
std::vector<GridRow> rows_of(const std::string& arm, const std::string& key,
                             const std::vector<std::string>& labels) {
  const auto sample = analysis::sample_of({-8342609.5, 959487.25, 1e6, 2e6, 3e6, 40e6});
  const size_t count = labels.size();
  analysis::LadderArm own{.name = arm,
                          .baseline = "base",
                          .scores = std::vector(count, sample),
                          .effects = std::vector(count, sample),
                          .p = std::vector(count, 0.5)};
  analysis::Evidence evidence;
  evidence.ladders = {{.task = "reverse",
                       .axis = key,
                       .at = "",
                       .test_set = "length 4",
                       .metric = "perplexity",
                       .rungs = {},
                       .arms = {own}}};
  for (const auto& label : labels) evidence.ladders.front().rungs.push_back({"reverse", label, 1});
  return short_grids_of(evidence).at(0).rows;
}

TEST(FitNames, AHeadingThatIsWiderThanItsNamesEndsTheirCutting) {
  const auto rows = rows_of("learned_positions", "training.tokens_per_batch", {"40", "60"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1][1].text, "60");
}

TEST(FitNames, NamesStayDifferentWhereverTheyDiffer) {
  for (const std::string end : {"", " (beyond)"}) {
    std::set<std::string> shown;
    std::vector<std::string> labels;
    for (const std::string number : {"13", "14", "16"})
      labels.push_back((end.empty() ? "a rather long name of a length " : "length ") + number +
                       end);
    for (const auto& row : rows_of("twelve_chars", "data.name", labels)) {
      EXPECT_LT(row[1].text.size(), labels[0].size()) << "there is no room for all of it";
      shown.insert(row[1].text);
    }
    EXPECT_EQ(shown.size(), 3U) << "of names that end in '" << end << "'";
  }
}

}  // namespace
}  // namespace ablate::report
