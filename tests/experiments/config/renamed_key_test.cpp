#include "experiments/config/renamed_key.h"

#include <gtest/gtest.h>

#include "experiments/config/explanation.h"
#include "experiments/config/printer.h"
#include "experiments/config/schema.h"
#include "tests/experiments/config/study_text.h"

namespace ablate::experiments {
namespace {

class RenamedKeys : public testing::TestWithParam<RenamedKey> {};

TEST_P(RenamedKeys, LeadFromAPathThatIsNoMoreToOneThatIs) {
  const auto schema = experiment_schema();
  EXPECT_EQ(node_at(schema, GetParam().before), nullptr) << GetParam().before;
  EXPECT_NE(node_at(schema, GetParam().now), nullptr) << GetParam().now;
}

INSTANTIATE_TEST_SUITE_P(All, RenamedKeys, testing::ValuesIn(kRenamedKeys));

TEST(RenamedKey, IsAnsweredWithItsPresentName) {
  EXPECT_EQ(
      messages_of(kBase + "arms: {a: {training.start.arm: b}}\n"),
      "study.yaml:5:21: unknown key 'start' in training; it is called training.init_from now");
  EXPECT_EQ(messages_of(kBase, {.sets = {"training.vectors.source=v.txt"}}),
            "--set:1:10: unknown key 'vectors' in training; it is called "
            "training.pretrained_embeddings now");
}

TEST(RenamedKey, IsExplainedByItsPresentName) {
  try {
    explanation("training.start.run");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.problems[0].message,
              "unknown key 'training.start.run'; it is called training.init_from.run now");
  }
}

TEST(RenamedKey, OfARecordedConfigurationIsReadUnderItsPresentName) {
  const auto text = to_yaml(study_of(kBase).runs.front().experiment);
  std::string earlier = text;
  const auto replace = [&](const std::string& now, const std::string& before) {
    const auto at = earlier.find(now);
    ASSERT_NE(at, std::string::npos) << now;
    earlier.replace(at, now.size(), before);
  };
  replace("\n  position_ids:\n", "\n  numbering:\n");
  replace("\n  init_from:\n", "\n  start:\n");
  const auto source = std::make_shared<const Source>("config.yaml", earlier);
  EXPECT_EQ(to_yaml(read_experiment(source)), text);
}

TEST(RenamedKey, IsAWholeKeyAndNotABeginning) {
  EXPECT_EQ(current_name("training.start"), "training.init_from");
  EXPECT_EQ(current_name("training.started"), "");
  EXPECT_EQ(current_name("training"), "");
}

}  // namespace
}  // namespace ablate::experiments
