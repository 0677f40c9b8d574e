#include "experiments/analysis/figure.h"

#include <gtest/gtest.h>

namespace ablate::analysis {
namespace {

TEST(ParametersFigure, SaysHowManyATokenUsesWhereThatIsSome) {
  EXPECT_EQ(parameters_figure({.parameters = 934'000, .active_parameters = 934'000}), "934 k");
  EXPECT_EQ(parameters_figure({.parameters = 934'000, .active_parameters = 250'000}),
            "250 k of 934 k");
  EXPECT_EQ(parameters_figure({.parameters = 934'000}), "934 k") << "where nobody has counted";
}

TEST(CostFigures, AreDashesWhereNoRunHasFinished) {
  EXPECT_EQ(parameters_figure({}), "-");
  EXPECT_EQ(megaflops_figure({}), "-");
  EXPECT_EQ(megaflops_figure({.flops_per_token = 12'120'000}), "12.1");
}

}  // namespace
}  // namespace ablate::analysis
