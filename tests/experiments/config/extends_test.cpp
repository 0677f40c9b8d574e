#include "experiments/config/study/extends.h"

#include <gtest/gtest.h>

#include "experiments/config/schema/printer.h"
#include "experiments/config/study/parsed_study.h"
#include "experiments/config/study/study_change.h"
#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

const std::string kSmall =
    "name: small\n"
    "seeds: [1, 2]\n"
    "base:\n"
    "  data: {task: copy, symbols: 4}\n"
    "  model: {d_model: 64, decoder: {attention: {window: 3}}}\n"
    "  training:\n"
    "    schedule: {kind: cosine, peak: 0.02, warmup: 10, floor: 0.001}\n"
    "arms: {a: {}, b: {model.dropout: 0.2}}\n"
    "compare: {baseline: a, metric: bleu, margin: 2}\n";

/// A study in the folder of files that it may extend.
class Extended : public testing::Test {
 protected:
  Study read(const std::string& yaml) const { return read_study(written("study.yaml", yaml)); }

  std::filesystem::path written(const std::string& name, const std::string& text) const {
    const auto path = small_.folder() / name;
    std::ofstream(path) << text;
    return path;
  }

  /// The messages with names of files instead of paths.
  std::string messages(const std::string& yaml) const {
    std::string text;
    for (const auto& problem : problems_of([&] { read(yaml); }))
      text += fmt::format("{}{}:{}:{}: {}", text.empty() ? "" : "\n",
                          std::filesystem::path(problem.file).filename().string(), problem.line,
                          problem.column, problem.message);
    return replaced_everywhere(text, small_.folder().string() + "/", "");
  }

  const TemporaryFile small_{kSmall, "small.yaml"};
};

TEST_F(Extended, HasTheKeysOfTheOtherFileUnderItsOwn) {
  const auto study = read(
      "extends: small.yaml\nname: long\nbase: {training: {steps: 900}}\n"
      "compare: {margin: 1}\n");
  EXPECT_EQ(study.name, "long");
  EXPECT_EQ(study.seeds, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(study.compare->metric, "bleu");
  EXPECT_EQ(study.compare->claim.margin, 1);
  const auto& run = study.runs.front();
  EXPECT_EQ(run.experiment.training.steps, 900);
  EXPECT_EQ(run.experiment.model.d_model, 64);
  EXPECT_EQ(run.origins.at("training.steps"), "study.yaml:3");
  EXPECT_EQ(run.origins.at("model.d_model"), "small.yaml:5");
}

TEST_F(Extended, ReplacesArmsAsAWhole) {
  const auto study = read("extends: small.yaml\narms: {a: {}, c: {model.dropout: 0.3}}\n");
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "c"}));
}

TEST_F(Extended, KeepsOfAnotherKindWhatAnArmWould) {
  const auto schedule = read("extends: small.yaml\nbase: {training.schedule: linear}\n")
                            .runs[0]
                            .experiment.training.schedule;
  EXPECT_EQ(std::get<training::Linear>(schedule).peak, 0.02);
  const auto constant = read("extends: small.yaml\nbase: {training.schedule: constant}\n")
                            .runs[0]
                            .experiment.training.schedule;
  EXPECT_EQ(std::get<training::Constant>(constant).warmup, 10);
}

TEST_F(Extended, MayExtendAFileOfAnotherFolderThatExtendsOne) {
  std::filesystem::create_directory(small_.folder() / "more");
  written("more/middle.yaml", "extends: ../small.yaml\nseeds: [5]\n");
  const auto study = read("extends: more/middle.yaml\nname: s\n");
  EXPECT_EQ(study.seeds, std::vector<int64_t>{5});
  EXPECT_EQ(study.arms.size(), 2U);
  EXPECT_EQ(study.data_folder, small_.folder());
}

TEST_F(Extended, MayCrossSeedsOrReplaceThem) {
  written("base.yaml", "name: s\nseeds: [1]\nbase: {data: {task: copy}}\n");
  const auto file = written("crossed.yaml",
                            "extends: base.yaml\nseeds: {initialization: [1, 2], order: [3, 4]}\n");
  EXPECT_EQ(read_study(file).seeds, (std::vector<int64_t>{1003, 1004, 2003, 2004}));
  EXPECT_TRUE(study_of(parse_study(file).text).crossed) << parse_study(file).text;
  const auto plain = read("extends: crossed.yaml\nseeds: [5]\n");
  EXPECT_FALSE(plain.crossed);
  EXPECT_EQ(plain.seeds, std::vector<int64_t>{5});
}

TEST_F(Extended, IsFrozenAsOneFileThatMeansTheSame) {
  const auto file = written(
      "study.yaml",
      "extends: small.yaml\nquestion: 'Which: this, or #2?'\n"
      "base:\n  model.decoder.attention: {softcap: 2}\n  training.schedule: inverse_square_root\n"
      "expect: [\"a.bleu >= 0.5 * b.bleu\"]\n");
  const auto text = parse_study(file).text;
  EXPECT_FALSE(says(text, "extends"));
  const auto line = fmt::format("{:<48}  # small.yaml:7\n", "      peak: 0.02");
  EXPECT_TRUE(says(text, line));
  const auto whole = study_of(text), study = read_study(file);
  EXPECT_EQ(changes(study, whole), std::vector<std::string>());
  EXPECT_EQ(changes(whole, study), std::vector<std::string>());
  EXPECT_EQ(canonical(study.runs.back().experiment), canonical(whole.runs.back().experiment));
  EXPECT_EQ(parse_study(small_.path()).text, kSmall) << "which extends nothing";
}

TEST_F(Extended, IsFrozenWithArmsThatHaveTheNameOfAMissingValue) {
  const auto file = written("study.yaml", "extends: small.yaml\narms: {a: {}, 'null': {}}\n");
  EXPECT_EQ(study_of(parse_study(file).text).arms, (std::vector<std::string>{"a", "null"}));
}

TEST_F(Extended, ReportsMistakesWhereTheyStand) {
  written("wrong.yaml", "base:\n  model: {d_modle: 3}\n");
  EXPECT_EQ(messages(kHead + "extends: wrong.yaml\nbase: {data: {task: copy, symbls: 4}}\n"),
            "study.yaml:4:27: unknown key 'symbls' in data; did you mean 'symbols'?\n"
            "wrong.yaml:2:11: unknown key 'd_modle' in model; did you mean 'd_model'?");
  EXPECT_EQ(messages("extends: none.yaml\n" + kBase),
            "study.yaml:1:10: extends: there is no none.yaml; the path starts at the folder of the "
            "file that names it");
  EXPECT_EQ(messages("extends: [small.yaml]\n" + kBase),
            "study.yaml:1:10: extends must be text, not a list");
}

TEST_F(Extended, ReportsACircle) {
  written("one.yaml", "extends: study.yaml\n");
  EXPECT_EQ(
      messages("extends: one.yaml\n" + kBase),
      "one.yaml:1:10: extends: the files extend each other in a circle: study.yaml, one.yaml, "
      "study.yaml");
}

TEST(ExtendedStudies, OfTheRepositoryAreFrozenAsTheyAre) {
  const auto file = std::filesystem::path(ABLATE_SOURCE) / "experiments/studies/multi30k_long.yaml";
  const auto parsed = parse_study(file);
  ASSERT_TRUE(parsed.given("extends"));
  EXPECT_EQ(changes(read_study(file), study_of(parsed.text)), std::vector<std::string>());
}

}  // namespace
}  // namespace ablate::config
