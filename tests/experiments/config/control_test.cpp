#include "experiments/config/study/control.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

const std::string kThree = "arms: {a: {}, b: {model.layers: 2}, c: {model.layers: 3}}\n";

/// Whether a study that compares its arms with `a` has a control, and says so.
bool is_controlled(const std::string& arms, const std::string& compare = "") {
  const auto study =
      study_of(kBase + arms + "compare: {baseline: a, metric: exact_match" + compare + "}\n");
  EXPECT_EQ(study.arms.back() == kControl, study.compare->control);
  return study.compare->control;
}

TEST(Control, IsTheDefaultFromThreeTrainedArmsOn) {
  EXPECT_FALSE(is_controlled("arms: {a: {}, b: {model.layers: 2}}\n"));
  EXPECT_TRUE(is_controlled(kThree));
  EXPECT_FALSE(study_of(kBase + kThree).compare) << "nothing is compared";
}

TEST(Control, IsWantedOrNotWhereTheKeySaysSo) {
  EXPECT_FALSE(is_controlled(kThree, ", control: false"));
  EXPECT_TRUE(is_controlled("arms: {a: {}, b: {model.layers: 2}}\n", ", control: true"));
}

TEST(Control, LeavesAnArmOfItsNameAlone) {
  const std::string named = "arms: {a: {}, control: {model.layers: 2}, c: {model.layers: 3}}\n";
  const auto study = study_of(kBase + named + "compare: {baseline: a, metric: exact_match}\n");
  EXPECT_FALSE(study.compare->control);
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "control", "c"}));
}

TEST(Control, CountsNoArmThatOnlyEvaluatesOrGoesOnFromTheBaseline) {
  const std::string evaluated = "{training.steps: 0, training.init_from: {arm: a}}";
  const std::string tuned = "{training.steps: 5, training.init_from: {arm: a}}";
  const std::string compare = ", allow: [steps]";
  EXPECT_FALSE(is_controlled("arms: {a: {}, b: {}, c: " + evaluated + "}\n", compare));
  EXPECT_FALSE(is_controlled("arms: {a: {}, b: {}, c: " + tuned + "}\n", compare));
  EXPECT_TRUE(is_controlled("arms: {a: {}, b: {}, c: {}, d: " + evaluated + "}\n", compare));
  EXPECT_FALSE(
      is_controlled("arms: {b: {}, c: {}, d: {}, a: {training.steps: 0, "
                    "training.init_from: {arm: b}}}\n",
                    compare))
      << "the baseline is not trained";
}

TEST(Control, IsOfEverySettingOrOfNone) {
  const std::string tasks =
      "name: s\nseeds: [1]\ntasks: {copy: {data: {task: copy}}, sort: {data: {task: sort}MORE}}\n";
  const auto study = [&](const std::string& more) {
    return study_of(replaced(tasks, "MORE", more) + kThree +
                    "compare: {baseline: a, metric: exact_match}\n");
  };
  EXPECT_TRUE(study("").compare->control);
  EXPECT_FALSE(study(", training.steps: 0, training.init_from: {run: r}").compare->control);
}

TEST(Control, MayBeOfThePointsOfAGridThatAreArms) {
  const auto study = study_of(kBase + "grid: {model.layers: [1, 2, 3]}\n" +
                              "compare: {baseline: layers=2, metric: exact_match}\n");
  EXPECT_EQ(study.arms.back(), kControl);
  EXPECT_EQ(study.configurations.back().experiment.model.layers, 2);
  const auto settings = study_of(kBase + "arms: {a: {}, b: {model.bias: false}}\n" +
                                 "grid: {model.layers: [1, 2, 3]}\n" +
                                 "compare: {baseline: a, metric: exact_match}\n");
  EXPECT_FALSE(settings.compare->control) << "two arms, each at three points";
}

}  // namespace
}  // namespace ablate::config
