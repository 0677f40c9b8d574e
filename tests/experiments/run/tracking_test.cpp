#include <limits>

#include "experiments/run/evaluate.h"
#include "tests/experiments/program.h"

namespace ablate::run {
namespace {

class TrackingTest : public ProgramTest {
 protected:
  training::Session session(const std::string& arm, int64_t seed,
                            const std::vector<std::string>& sets = {}) {
    write_file(folder_ / "arms.yaml",
               read_file(study()) +
                   "arms: { plain: {}, learned: { model.position.kind: learned, "
                   "model.residual.skip: true } }\n");
    const auto planned =
        config::read_study(folder_ / "arms.yaml", {.sets = sets, .arms = {arm}, .seeds = {seed}});
    const auto folder = records::study_folder(folder_, "tracked").run(planned.runs.at(0));
    std::filesystem::remove_all(folder.path);
    records::write_plan(folder, planned, planned.runs.at(0));
    return session_of(records::read_plan(folder), planned.runs.at(0).experiment);
  }
};

TEST_F(TrackingTest, RunsThatDifferInTheSeedAloneAreOneGroup) {
  EXPECT_EQ(session("plain", 1).group, session("plain", 2).group);
  EXPECT_EQ(session("plain", 1).parameters, session("plain", 2).parameters);
  EXPECT_NE(session("plain", 1).group, session("learned", 1).group);
  EXPECT_NE(session("plain", 1).group, session("plain", 1, {"model.dropout=0.2"}).group);
  EXPECT_TRUE(session("plain", 1).group.starts_with("tiny/copy/plain "));
}

TEST_F(TrackingTest, ParametersAreWhatTheStudyOrTheCommandLineSet) {
  const auto parameters = session("learned", 1, {"model.dropout=0.25"}).parameters;
  const std::variant<bool, double, std::string> learned = "learned", width = 16.0, yes = true;
  EXPECT_EQ(parameters.at("arm"), learned);
  EXPECT_EQ(parameters.at("model.position.kind"), learned);
  EXPECT_EQ(parameters.at("model.d_model"), width);
  EXPECT_EQ(parameters.at("model.residual.skip"), yes);
  EXPECT_EQ(parameters.at("model.dropout"), (std::variant<bool, double, std::string>(0.25)));
  EXPECT_FALSE(parameters.contains("model.norm.kind")) << "which is a default";
  EXPECT_FALSE(parameters.contains("seed"));
}

TEST(FinalScalars, AreTheScoresThatARunHas) {
  const auto tags = [](data::Compared compared) {
    records::TestScores test{
        .name = "length 6", .exact_match = 0.5, .perplexity = 2, .compared = compared};
    if (compared == data::Compared::text) test.bleu = test.chrf = test.rouge_l = 0.5;
    test.nats_per_character = std::numeric_limits<double>::quiet_NaN();
    std::string text;
    for (const auto& scalar : final_scalars({.tests = {test}})) text += scalar.tag + ";";
    return text;
  };
  EXPECT_EQ(tags(data::Compared::text),
            "test/length 6/exact_match;test/length 6/token_accuracy;test/length 6/bleu;"
            "test/length 6/chrf;test/length 6/perplexity;test/length 6/loss;test/length "
            "6/rouge_l;");
  EXPECT_EQ(tags(data::Compared::label),
            "test/length 6/exact_match;test/length 6/perplexity;test/length 6/loss;");
  EXPECT_EQ(tags(data::Compared::nothing),
            "test/length 6/token_accuracy;test/length 6/perplexity;test/length 6/loss;");
}

TEST_F(TrackingTest, TensorBoardShowsFinishedRunsAndTheirScores) {
  const std::string python = std::string(ABLATE_SOURCE) + "/.venv/bin/python";
  if (shell(python + " -c 'import tensorboard' 2>/dev/null").code != 0)
    GTEST_SKIP() << "the tensorboard package is not installed; make setup brings it";
  ASSERT_EQ(shell(command("out", "--seeds 1,2 --jobs 1")).code, 0);
  const auto outcome = shell(python + " " + ABLATE_SOURCE + "/tests/training/read_tensorboard.py " +
                             (folder_ / "out").string() + " 2>/dev/null");
  const auto read = nlohmann::json::parse(outcome.output, nullptr, false);
  ASSERT_EQ(read["groups"].size(), 1U) << outcome.output;
  const auto& group = *read["groups"].begin();
  EXPECT_EQ(group["sessions"], nlohmann::json({"tiny/copy/base/seed-1", "tiny/copy/base/seed-2"}));
  EXPECT_EQ(group["statuses"], nlohmann::json({"STATUS_SUCCESS"}));
  EXPECT_TRUE(group["metrics"].contains("test/length 4/exact_match"));
  const auto& curves = read["curves"]["tiny/copy/base/seed-1"];
  EXPECT_EQ(curves["training/loss"].size(), 12U);
  EXPECT_EQ(curves["training/tokens_per_second"].size(), 12U);
  EXPECT_EQ(curves["validation/perplexity"].size(), 4U);
}

}  // namespace
}  // namespace ablate::run
