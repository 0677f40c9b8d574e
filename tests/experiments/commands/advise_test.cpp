#include "experiments/commands/advise.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/carried_texts.h"
#include "experiments/errors.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

nlohmann::json measured(double parameters, double tokens, const char* gain) {
  return {{"parameters", parameters}, {"tokens", tokens}, {"gain", gain}};
}

/// Two choices: one with two options, of which one has four measurements, and one of large models.
nlohmann::json two_choices() {
  return {{{"choice", "Gate"},
           {"usual", "none"},
           {"advice", "Use: SwiGLU."},
           {"options",
            {{{"name", "SwiGLU"},
              {"measured",
               {measured(10'000, 1'000'000, "+0.1"), measured(100'000, 1'000'000, "+0.2"),
                measured(100'000, 20'000'000, "+0.3"), measured(100'000, 1'000'000, "-0.2")}}},
             {{"name", "GELU"}, {"measured", {measured(5'000, 1'000'000, "-0.1")}}}}}},
          {{"choice", "Norm"},
           {"usual", "LayerNorm"},
           {"advice", "Use: LayerNorm."},
           {"options",
            {{{"name", "RMSNorm"}, {"measured", {measured(90'000'000, 1'000'000, "+0.4")}}}}}}};
}

TEST(Advise, TellsTheNearestMeasurementOnBothScales) {
  const auto at = [](double parameters, double tokens) {
    return advise(two_choices(), {parameters, tokens});
  };
  const auto small = at(20'000, 2'000'000);
  EXPECT_TRUE(says(small,
                   "\nGate (usually none)\n  Use: SwiGLU.\n"
                   "    SwiGLU: +0.1, with 10.0 k parameters and 1.00 M tokens\n"
                   "    GELU: -0.1, with 5.00 k parameters and 1.00 M tokens\n"));
  EXPECT_TRUE(says(small,
                   "Norm (usually LayerNorm)\n  Use: LayerNorm.\n"
                   "    nothing was measured near this size\n"));
  EXPECT_TRUE(says(at(60'000, 2'000'000), "SwiGLU: +0.2; -0.2, with 100 k")) << "both studies";
  EXPECT_TRUE(says(at(60'000, 8'000'000), "SwiGLU: +0.3, with 100 k parameters and 20.0 M"));
}

TEST(Advise, NothingFurtherThanTenTimesIsNear) {
  EXPECT_TRUE(says(advise(two_choices(), {50'000, 10'000'000}), "GELU"));
  EXPECT_FALSE(says(advise(two_choices(), {50'001, 10'000'000}), "GELU"));
  EXPECT_FALSE(says(advise(two_choices(), {50'000, 10'000'001}), "GELU"));
  EXPECT_EQ(refusal_of<UsageError>([] {
              advise(two_choices(), {1'000, 1'000'000'000});
            }),
            "nothing was measured within 10 times of 1.00 k parameters and 1.00 G tokens; the "
            "atlas has 5.00 k parameters and 1.00 M tokens to 90.0 M parameters and 20.0 M tokens, "
            "and says nothing beyond that");
}

TEST(Advise, TheProgramCarriesTheAtlas) {
  const auto carried = nlohmann::json::parse(text_named(atlas_advice(), "advice"));
  EXPECT_TRUE(says(advise(carried, {150'000, 3'000'000}),
                   "\nFeed-forward (usually relu)\n  Use: SwiGLU. "));
}

}  // namespace
}  // namespace ablate::commands
