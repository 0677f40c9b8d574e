#include "experiments/config/study/study.h"

#include <gtest/gtest.h>

#include "experiments/config/schema/printer.h"
#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

using models::Learned;
using models::Sinusoidal;

TEST(Study, RunsAreTasksTimesArmsTimesSeedsInThisOrder) {
  const auto study = study_of(
      "name: s\nseeds: [2, 1]\n"
      "tasks: {copy: {data: {task: copy}}, sort: {data: {task: sort}}}\n"
      "arms: {b: {}, a: {model.layers: 2}}\n");
  std::string order;
  for (const auto& run : study.runs)
    order += run.task + "/" + run.arm + "/" + std::to_string(run.seed) + " ";
  EXPECT_EQ(order, "copy/b/2 copy/b/1 copy/a/2 copy/a/1 sort/b/2 sort/b/1 sort/a/2 sort/a/1 ");
}

TEST(Study, WithoutTasksAndArmsThereIsOneNamedAfterTheData) {
  const auto study = study_of(kBase);
  EXPECT_EQ(study.tasks, std::vector<std::string>{"copy"});
  EXPECT_EQ(study.arms, std::vector<std::string>{"base"});
}

TEST(Study, AControlIsTheBaselineWithOtherRandomNumbers) {
  const auto text = kBase + "arms: {a: {model.layers: 2}, b: {}}\n" +
                    "compare: {baseline: a, metric: exact_match, control: true, claim: superior}\n";
  const auto study = study_of(text);
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "b", "control"}));
  const auto& control = study.configurations.back().experiment;
  EXPECT_EQ(control.model.layers, 2);
  EXPECT_EQ(control.training.stream, 1);
  EXPECT_EQ(differences(study.configurations.front().experiment, control).size(), 1U);
  EXPECT_FALSE(claim_of(*study.compare, "copy", "control").kind);
  EXPECT_TRUE(claim_of(*study.compare, "copy", "b").kind);
  EXPECT_TRUE(says(messages_of(replaced(text, "b: {}", "control: {}")),
                   "compare.control adds an arm of the name control, which the "
                   "study has already; rename that one"));
}

TEST(Study, LaterLayersWin) {
  const std::string yaml =
      "name: s\nseeds: [1]\n"
      "base: {model: {layers: 2, d_model: 64, dropout: 0.2}, training: {steps: 7}}\n"
      "tasks: {t: {data: {task: copy}, model.layers: 3, model.d_model: 72, training.steps: 8}}\n"
      "sizes: {s: {model.layers: 4, model.d_model: 88}}\n"
      "arms: {a: {model.d_model: 80}}\n";
  const auto run = run_of(yaml, "a", {.sets = {"model.dropout=0.3"}});
  EXPECT_EQ(run.experiment.training.steps, 8);
  EXPECT_EQ(run.experiment.model.d_model, 80);
  EXPECT_EQ(run.experiment.model.layers, 4);
  EXPECT_EQ(run.experiment.model.dropout, 0.3);
  EXPECT_EQ(std::get<models::MultiHead>(run.experiment.model.layer.attention).heads, 8);
}

TEST(Study, OriginsNameTheLayerThatWon) {
  const auto run = run_of(kBase + "  model: {layers: 2}\narms: {a: {model.dropout: 0.2}}\n", "a",
                          {.sets = {"training.steps=9"}});
  EXPECT_EQ(run.origins.at("data.task"), "study.yaml:4");
  EXPECT_EQ(run.origins.at("model.layers"), "study.yaml:5");
  EXPECT_EQ(run.origins.at("model.dropout"), "study.yaml:6");
  EXPECT_EQ(run.origins.at("training.steps"), "--set");
  EXPECT_EQ(run.origins.at("model.d_model"), "default");
}

TEST(Study, AnotherKindStartsFromItsDefaults) {
  const std::string yaml =
      kModel + "{position: {kind: learned, max_length: 64}}\n" +
      "arms: {a: {}, b: {model.position.kind: sinusoidal}, "
      "c: {model.position.max_length: 9}, d: {model.position.kind: learned}}\n";
  const auto position = [&](const std::string& arm) {
    return run_of(yaml, arm).experiment.model.layer.position;
  };
  EXPECT_EQ(std::get<Learned>(position("a")).max_length, 64);
  EXPECT_EQ(std::get<Sinusoidal>(position("b")).base, Sinusoidal{}.base);
  EXPECT_EQ(std::get<Learned>(position("c")).max_length, 9);
  EXPECT_EQ(std::get<Learned>(position("d")).max_length, 64);
  EXPECT_FALSE(run_of(yaml, "b").origins.contains("model.position.max_length"));
}

TEST(Study, KindAppliesBeforeTheOtherKeysWhateverTheirOrder) {
  const auto run = run_of(kBase, "base",
                          {.sets = {"model.position.max_length=9", "model.position.kind=learned"}});
  EXPECT_EQ(std::get<Learned>(run.experiment.model.layer.position).max_length, 9);
}

TEST(Study, TheLastSetOfAPathWins) {
  const auto run = run_of(kBase, "base", {.sets = {"model.layers=2", "model.layers=3"}});
  EXPECT_EQ(run.experiment.model.layers, 3);
}

TEST(Study, SetTakesAnyYamlValue) {
  const auto run = run_of(
      kBase, "base",
      {.sets = {"model.position={kind: learned, max_length: 7}", "data.test_length=[3, 4]"}});
  EXPECT_EQ(std::get<Learned>(run.experiment.model.layer.position).max_length, 7);
  EXPECT_EQ(std::get<data::Copy>(run.experiment.data).test_length, (std::vector<int64_t>{3, 4}));
}

TEST(Study, NullTakesAnOptionalValueBack) {
  const auto run = run_of(kTraining + "{threads: 2}\narms: {a: {training.threads: null}}\n", "a");
  EXPECT_FALSE(run.experiment.training.threads.has_value());
}

TEST(Study, GridWithoutArmsMakesTheArms) {
  const auto study = study_of(kBase + "grid: {model.position: [{kind: none}, {kind: learned}]}\n");
  EXPECT_EQ(study.arms, (std::vector<std::string>{"position=none", "position=learned"}));
}

TEST(Study, SelectionKeepsTheOrderOfTheFile) {
  const auto study =
      study_of(kBase + "arms: {a: {}, b: {}, c: {}}\n", {.arms = {"c", "a"}, .seeds = {5, 3}});
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(study.seeds, (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(study.runs.size(), 4U);
}

TEST(Study, UnknownNamesOfTheSelectionAreReportedWithTheirPlace) {
  const std::string yaml = kBase + "arms: {sinusoidal: {}, learned: {}}\n";
  EXPECT_EQ(error_of(yaml, {.arms = {"sinusoidal", "lerned"}}),
            "--arms:1:12: unknown arm 'lerned'; did you mean 'learned'?\n"
            "  sinusoidal,lerned\n"
            "             ^");
}

TEST(Study, ComparisonIsLeftOutWhereTheBaselineIsNotSelected) {
  const std::string yaml = kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu}\n";
  ASSERT_TRUE(study_of(yaml).compare.has_value());
  EXPECT_EQ(study_of(yaml).compare->metric, "bleu");
  EXPECT_FALSE(study_of(yaml, {.arms = {"b"}}).compare.has_value());
}

TEST(Study, RelativeDataStartsAtTheStudyUnlessTheSelectionSaysOtherwise) {
  const TemporaryFile file(kBase);
  EXPECT_EQ(read_study(file.path()).data_folder, file.folder());
  EXPECT_EQ(read_study(file.path(), {.data_folder = "/elsewhere"}).data_folder, "/elsewhere");
}

TEST(Study, WhatAClassifiersTaskLeavesNoChoiceForFollowsFromIt) {
  const auto yaml = kHead + "base: {data: {task: labelled, train: a, validation: b, test: c}}\n" +
                    "arms: {given: {model: {family: encoder_only, output: label, tying: none}}, "
                    "left_out: {}}\n";
  const auto run = run_of(yaml, "left_out");
  EXPECT_EQ(differences(run_of(yaml, "given").experiment, run.experiment).size(), 0U);
  for (const auto* key : {"model.family", "model.output.kind", "model.tying"})
    EXPECT_EQ(run.origins.at(key), "study.yaml:3") << key << ": the place of data.task";
  const auto own = kHead +
                   "base: {data: {task: labelled, train: a, validation: b, test: c}, "
                   "model: {tying: target}}\n";
  EXPECT_TRUE(says(error_of(own), "model.tying must be")) << "what is given stays";
}

TEST(ShippedStudies, AreValid) {
  const std::filesystem::path studies = ABLATE_SOURCE "/experiments/studies";
  for (const char* name : {"copy.yaml", "multi30k.yaml"})
    EXPECT_FALSE(read_study(studies / name).runs.empty()) << name;
}

}  // namespace
}  // namespace ablate::config
