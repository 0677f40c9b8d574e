#include "experiments/records/frozen_study.h"
#include "experiments/report/write_report.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::report {
namespace {

/// The tiny study with two arms, two seeds and a mixture of experts in one of them.
class ReportTest : public ProgramTest {
 protected:
  ReportTest() {
    change("seeds: [1]", "question: Do experts help?\nseeds: [1, 2]");
    append(
        "arms:\n  dense: {}\n  experts: { model.feed_forward: { kind: moe, "
        "experts: 4, active: 2, d_hidden: 16 }, model.position.kind: alibi }\n"
        "compare: { baseline: dense, metric: exact_match }\n");
  }
};

TEST_F(ReportTest, AStudyEndsInAPageOfItsOwnRecordsThatCanBeMadeAgain) {
  const auto output = output_of(shell(
      command("out", "--set training.max_grad_norm=1.5 --set training.observe.every=30 --jobs 2")));
  const auto file = folder_ / "out/tiny/report.html";
  EXPECT_TRUE(says(output, "report: " + file.string()));
  const auto page = read_file(file);
  EXPECT_TRUE(says(page, "<h1>Do experts help?</h1>"));
  for (const auto* section :
       {"Training loss", "Validation loss", "exact match over length",
        "Token accuracy at each position: length 4", "Load of the experts", "Inside the models",
        "Last observation of experts, after step 60", "Sample outputs",
        "Product with the vector of position 0", "Bias of the last query",
        "--set training.max_grad_norm=1.5", "libtorch"})
    EXPECT_TRUE(says(page, section));

  const auto curves = page.find("Training loss"), inside = page.find("Inside the models");
  ASSERT_LT(curves, inside);
  EXPECT_EQ(occurrences(page.substr(curves, inside - curves), "at step 60</title>"), 4U)
      << "training and validation of both arms";

  const auto result = read_json(folder_ / "out/tiny/copy/dense/seed-2/result.json");
  for (const auto* figure : {"attention_entropy", "attention_sink", "rank_residual",
                             "active_neurons", "update_ratio", "gradient_noise"})
    EXPECT_TRUE(result[figure].is_number()) << figure << result[figure];
  EXPECT_TRUE(says(read_file(folder_ / "out/tiny/results.csv"), ",rank_residual,neither,"));

  std::filesystem::remove(file);
  ASSERT_TRUE(ends(program("report", folder_ / "out/tiny", "2>&1"), 0));
  EXPECT_EQ(read_file(file), page);
}

TEST_F(ReportTest, SamplesAreExactAsExactMatchIsCounted) {
  for (const auto* set : {"train", "valid", "test"}) {
    write_file(folder_ / (std::string(set) + ".src"), "a b\nb a\n");
    write_file(folder_ / (std::string(set) + ".tgt"), "a  b\nb  a\n");  // which no model can write
  }
  write_file(folder_ / "spaces.yaml",
             "name: spaces\nseeds: [1]\nbase:\n"
             "  data: { task: text, train: [train.src, train.tgt], validation: [valid.src, "
             "valid.tgt], test: [test.src, test.tgt] }\n"
             "  tokenizer: { kind: character }\n"
             "  model: { d_model: 16, layers: 1, attention: { heads: 2 }, dropout: 0.0 }\n"
             "  training: { steps: 1, tokens_per_batch: 64, max_length: 32, threads: 1 }\n"
             "arms: { base: {}, other: { model.layers: 2 } }\n");
  ASSERT_EQ(program("run", folder_ / "spaces.yaml", "--output", folder_ / "out", "2>&1").code, 0);
  const auto run = folder_ / "out/spaces/text/base/seed-1";
  write_file(run / "output-test.txt", "a b\na b\n");
  const auto study = records::read_frozen(folder_ / "out/spaces");
  const auto samples = read_report_data(study, folder_ / "out/spaces").samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_TRUE(samples[0].outputs.at(0).exact);
  EXPECT_FALSE(samples[1].outputs.at(0).exact);
  EXPECT_EQ(samples[0].outputs.size(), 2U);
  write_file(folder_ / "out/spaces/text/other/seed-1/reference-test.txt", "c d\nd c\n");
  EXPECT_EQ(read_report_data(study, folder_ / "out/spaces").samples[0].outputs.size(), 1U)
      << "the other arm was tested on other examples";
}

TEST_F(ReportTest, PositionPicturesAreASmallPageWithoutAScript) {
  const auto file = folder_ / "positions.html";
  ASSERT_EQ(program("inspect positions --plot", file, "2>&1").code, 0);
  const auto page = read_file(file);
  EXPECT_LT(page.size(), 300'000U);
  EXPECT_FALSE(says(page, "<script"));
  EXPECT_GT(occurrences(page, "data:image/png;base64,"), 15U);
  EXPECT_TRUE(says(page, "<h3>sandwich</h3>"));
}

}  // namespace
}  // namespace ablate::report
