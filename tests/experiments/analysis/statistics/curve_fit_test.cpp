#include "experiments/analysis/statistics/curve_fit.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace ablate::statistics {
namespace {

using Values = std::vector<double>;

/// Three values have one parabola: at a point it is the value there, and one step beyond the last
/// it is y0 - 3 y1 + 3 y2.
TEST(CurveFit, OfThreePointsIsTheParabolaThroughTheirValues) {
  const CurveFit fit({0, 1, 2});
  const auto at_one = fit.weights_at(1), beyond = fit.weights_at(3);
  const Values second{0, 1, 0}, extrapolated{1, -3, 3};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(at_one[i], second[i], 1e-12);
    EXPECT_NEAR(beyond[i], extrapolated[i], 1e-12);
  }
}

TEST(CurveFit, ReproducesEveryCubicByWeightsThatSumToOne) {
  const auto cubic = [](double x) { return 3 - 2 * x + 0.5 * x * x - 0.25 * x * x * x; };
  const Values points{-9.97, -8.38, -6.64, -5.06, -1.2, 0.5};
  const CurveFit fit(points);
  for (const double x : {-11.0, -8.0, -3.5, 2.0}) {
    const auto weights = fit.weights_at(x);
    double sum = 0;
    for (size_t i = 0; i < points.size(); ++i) sum += weights[i] * cubic(points[i]);
    EXPECT_NEAR(sum, cubic(x), 1e-8);
    EXPECT_NEAR(std::reduce(weights.begin(), weights.end()), 1, 1e-10);
  }
}

/// Over -2, -1, 0, 1, 2 the residuals of a least-squares cubic are a multiple of 1, -4, 6, -4, 1,
/// of which the mean of 70 at the centre leaves 70 - 6 * 6 = 34.
TEST(CurveFit, HasTheLeastSquares) {
  EXPECT_NEAR(CurveFit({-2, -1, 0, 1, 2}).weights_at(0)[2], 34. / 70, 1e-12);
}

/// (x - 3)^2; x^3 - 12 x, whose minimum is at 2, and the same upside down, whose minimum is at -2;
/// a line; and a parabola that is lowest at its ends.
TEST(CurveFit, IsLowestAtItsMinimumOrAtAnEnd) {
  EXPECT_NEAR(CurveFit({1, 2, 4}).lowest(Values{4, 1, 1}), 3, 1e-12);
  EXPECT_NEAR(CurveFit({0, 1, 3, 4}).lowest(Values{0, -11, -9, 16}), 2, 1e-9);
  EXPECT_NEAR(CurveFit({-4, -3, -1, 0}).lowest(Values{16, -9, -11, 0}), -2, 1e-9);
  EXPECT_EQ(CurveFit({1, 2, 4, 5}).lowest(Values{5, 4, 2, 1}), 5);
  EXPECT_EQ(CurveFit({1, 2, 4}).lowest(Values{-4, -1, -1}), 1);
  EXPECT_EQ(CurveFit({1, 2, 4}).lowest(Values{9, 4, 0}), 4) << "(x - 4)^2 ends there";
  EXPECT_EQ(CurveFit({1, 2, 3}).lowest(Values{16, 9, 4}), 3) << "(x - 5)^2 goes on";
}

}  // namespace
}  // namespace ablate::statistics
