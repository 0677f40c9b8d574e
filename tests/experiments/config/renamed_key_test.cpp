#include "experiments/config/renamed_key.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/config/explanation.h"
#include "experiments/config/printer.h"
#include "experiments/config/schema.h"
#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

class RenamedKeys : public testing::TestWithParam<RenamedKey> {};

TEST_P(RenamedKeys, LeadFromAPathThatIsNoMoreToOneThatIs) {
  const auto schema = experiment_schema();
  EXPECT_EQ(node_at(schema, GetParam().before), nullptr) << GetParam().before;
  EXPECT_NE(node_at(schema, GetParam().now), nullptr) << GetParam().now;
}

INSTANTIATE_TEST_SUITE_P(All, RenamedKeys, testing::ValuesIn(kRenamedKeys));

TEST(RenamedValues, LeadFromAChoiceThatIsNoMoreToOneThatIs) {
  const auto schema = experiment_schema();
  for (const auto& [key, before, now] : kRenamedValues) {
    const auto dot = key.rfind('.');
    const auto* section = node_at(schema, std::string(key.substr(0, dot)));
    ASSERT_NE(section, nullptr) << key;
    EXPECT_EQ(std::ranges::count(section->choices, before), 0) << before;
    EXPECT_EQ(std::ranges::count(section->choices, now), 1) << now;
  }
}

TEST(RenamedKey, IsAnsweredWithItsPresentName) {
  EXPECT_EQ(
      messages_of(kBase + "arms: {a: {training.start.arm: b}}\n"),
      "study.yaml:5:21: unknown key 'start' in training; it is called training.init_from now");
  EXPECT_EQ(messages_of(kBase, {.sets = {"training.vectors.source=v.txt"}}),
            "--set:1:10: unknown key 'vectors' in training; it is called "
            "training.pretrained_embeddings now");
  EXPECT_EQ(messages_of(kModel + "{output: {kind: pieces}}\n"),
            "study.yaml:5:26: unknown kind 'pieces' in model.output; it is called tokens now");
}

TEST(UnfoldedValues, LeadToAKeyBelowASection) {
  const auto schema = experiment_schema();
  for (const auto& [key, before, now] : kUnfoldedValues) {
    const auto* section = node_at(schema, key);
    ASSERT_NE(section, nullptr) << key;
    EXPECT_NE(section->find(now.substr(0, now.find('='))), nullptr) << now;
  }
}

TEST(UnfoldedValue, IsAnsweredWithTheKeyBelow) {
  EXPECT_EQ(messages_of(kModel + "{residual: learned}\n"),
            "study.yaml:5:21: model.residual must be a mapping, not a single value; write "
            "model.residual.per: layer");
  EXPECT_EQ(messages_of(kBase, {.sets = {"model.encoder.residual=false"}}),
            "--set:1:24: model.encoder.residual must be a mapping, not a single value; write "
            "model.encoder.residual.skip: false");
  EXPECT_EQ(with_current_names("model.residual=false"), "model.residual.skip=false");
}

TEST(UnfoldedValue, OfARecordedConfigurationIsReadAsTheSection) {
  const auto recorded = [](const std::string& values) {
    return std::make_shared<const Source>("config.yaml", "data: {task: copy}\nmodel:\n" + values);
  };
  const auto model = read_experiment(recorded("  residual: learned\n  encoder: {residual: false}\n"
                                              "  decoder: {residual: null}\n"))
                         .model;
  EXPECT_EQ(model.residual.per, models::FactorPer::layer);
  EXPECT_TRUE(model.residual.skip);
  EXPECT_FALSE(*model.encoder.residual.skip);
  EXPECT_FALSE(model.decoder.residual.chooses());
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
  replace("\n    kind: tokens\n", "\n    kind: pieces\n");
  const auto source = std::make_shared<const Source>("config.yaml", earlier);
  EXPECT_EQ(to_yaml(read_experiment(source)), text);
}

TEST(RenamedKey, OfARecordedStudyIsReadUnderItsPresentNameWhereverItStands) {
  const TemporaryFile file(kHead + R"(
base:
  data: {task: copy}
  model.numbering.kind: randomized
  model.output.kind: pieces
tasks:
  long: {training.start.positions: 400}
arms:
  first: {}
  second:
    training: {start: {arm: first-model.numbering.longest=900}}
grid:
  model.numbering.longest: [800, 900]
)");
  const auto study = read_recorded_study(
      file.path(), {.sets = {"training.start.positions=500", "model.output.kind=pieces"},
                    .arms = {"second-model.numbering.longest=900"}});
  ASSERT_EQ(study.runs.size(), 1U);
  const auto& experiment = study.runs.front().experiment;
  EXPECT_EQ(study.runs.front().arm, "second-model.numbering.longest=900")
      << "the name of its folder";
  EXPECT_EQ(std::get<models::Randomized>(experiment.model.position_ids).longest, 900);
  EXPECT_EQ(experiment.training.init_from.arm, "first-model.numbering.longest=900");
  EXPECT_EQ(experiment.training.init_from.positions, 500);
  EXPECT_THROW(read_study(file.path()), ConfigError);
}

TEST(RenamedKey, OfASetIsReplacedAndNothingElseOfIt) {
  EXPECT_EQ(with_current_names("training.start.run=a=b"), "training.init_from.run=a=b");
  EXPECT_EQ(with_current_names("model.output.kind=pieces"), "model.output.kind=tokens");
  EXPECT_EQ(with_current_names("model.output.kind=label"), "model.output.kind=label");
  EXPECT_EQ(with_current_names("training.steps=5"), "training.steps=5");
  EXPECT_EQ(with_current_names("training.start"), "training.init_from");
}

TEST(RenamedKey, IsAWholeKeyAndNotABeginning) {
  EXPECT_EQ(current_name("training.start"), "training.init_from");
  EXPECT_EQ(current_name("training.started"), "");
  EXPECT_EQ(current_name("training"), "");
}

}  // namespace
}  // namespace ablate::config
