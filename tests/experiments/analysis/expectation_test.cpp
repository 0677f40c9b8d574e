#include "experiments/analysis/expectation.h"

#include <gtest/gtest.h>

#include "experiments/errors.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

TEST(Expectation, AFailedOneIsAnErrorWithItsNumbers) {
  EXPECT_NO_THROW(raise_failed({{"a", true, "1 < 2"}}));
  EXPECT_EQ(refusal_of<ExpectationFailed>([&] {
              raise_failed({{"a", true, "1 < 2"}, {"b", false, "3 < 2"}});
            }),
            "expectations of the study do not hold:\n  b: 3 < 2");
}

}  // namespace
}  // namespace ablate::analysis
