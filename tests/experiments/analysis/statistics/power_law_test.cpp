#include "experiments/analysis/statistics/power_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ablate::statistics {
namespace {

TEST(PowerLaw, IsFoundWherePointsLieOnIt) {
  const auto law = fit_power_law(std::vector<Observation>{{1, 3}, {100, 0.3}, {10'000, 0.03}});
  EXPECT_NEAR(law.value().exponent, -0.5, 1e-12);
  EXPECT_NEAR(law->factor, 3, 1e-12);
  EXPECT_NEAR(law->r_squared, 1, 1e-12);
  EXPECT_NEAR(law->at(25), 0.6, 1e-12);
}

/// In logarithms to base e the points are (0, 0), (1, 2), (2, 1): the line of least squares is
/// y = 1/2 + x/2, which accounts for a quarter of the variance.
TEST(PowerLaw, HasTheLeastSquaresOfTheLogarithms) {
  const double e = std::exp(1);
  const auto law = fit_power_law(std::vector<Observation>{{1, 1}, {e, e * e}, {e * e, e}});
  EXPECT_NEAR(law.value().exponent, 0.5, 1e-12);
  EXPECT_NEAR(law->factor, std::exp(0.5), 1e-12);
  EXPECT_NEAR(law->r_squared, 0.25, 1e-12);
}

TEST(PowerLaw, WantsThreeSizesAndPositiveNumbers) {
  using Observations = std::vector<Observation>;
  EXPECT_FALSE(fit_power_law(Observations{{1, 1}, {2, 2}, {2, 3}}));
  EXPECT_FALSE(fit_power_law(Observations{{1, 1}, {2, 0}, {3, 3}}));
  EXPECT_FALSE(fit_power_law(Observations{{0, 1}, {2, 1}, {3, 3}}));
  EXPECT_FALSE(fit_power_law(Observations{{1, 1}, {2, std::nan("")}, {3, 3}}));
}

}  // namespace
}  // namespace ablate::statistics
