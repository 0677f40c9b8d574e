#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace ablate::commands {
namespace {

/// The batches that `ablate bench train` draws for a study of running text in blocks of 12.
class BenchTest : public ProgramTest {
 protected:
  std::vector<nlohmann::json> batches(const std::string& family) {
    write_file(folder_ / "text", std::string(400, 'a') + "\n");
    write_file(folder_ / "study.yaml",
               "name: rows\nseeds: [1]\nbase:\n  data: { task: language, train: text, block: 12 }\n"
               "  tokenizer: { kind: character, mask: true }\n"
               "  model: { family: " +
                   family +
                   ", d_model: 8, layers: 1, attention: { heads: 2 }, feed_forward: { kind: dense, "
                   "d_hidden: 8 } }\n  training: { tokens_per_batch: 48, max_length: 13 }\n");
    const auto file = folder_ / "batches";
    EXPECT_TRUE(ends(program("bench train", folder_ / "study.yaml",
                             "--steps 1 --vocabulary 30 --threads 1 --batches", file, "2>&1"),
                     0));
    auto found = json_lines(read_file(file));
    if (!found.empty()) found.erase(found.begin());  // the model
    EXPECT_FALSE(found.empty());
    return found;
  }
};

TEST_F(BenchTest, RowsOfRunningTextAreAsLongAsTheBlocks) {
  for (const auto& batch : batches("decoder_only"))
    for (const auto& row : batch.at("target_out")) EXPECT_EQ(row.size(), 12U);
}

TEST_F(BenchTest, AnEncoderPredictsAtThePositionsThatItReads) {
  for (const auto& batch : batches("encoder_only"))
    EXPECT_EQ(batch.at("source"), batch.at("target_out"));
}

TEST_F(BenchTest, AClassifierPredictsOneClassOfEachText) {
  write_file(folder_ / "classes.yaml",
             "name: classes\nseeds: [1]\nbase:\n  data: { task: labelled, train: a, validation: b, "
             "test: c }\n  model: { family: encoder_only, output: { kind: label }, d_model: 8, "
             "layers: 1, attention: { heads: 2 }, feed_forward: { d_hidden: 8 } }\n"
             "  training: { tokens_per_batch: 48, max_length: 13 }\n");
  EXPECT_TRUE(ends(program("bench train", folder_ / "classes.yaml",
                           "--steps 1 --vocabulary 30 --threads 1 2>&1"),
                   0, "target tokens/s"));
}

TEST_F(BenchTest, OnlyThePartsThatAStudyTrainsAreTrained) {
  batches("decoder_only");
  const auto loss = [&](const std::string& sets) {
    const auto bench =
        program("bench train", folder_ / "study.yaml",
                "--steps 3 --vocabulary 30 --threads 1 --json --set training.schedule.warmup=0 " +
                    sets + " 2>&1");
    return nlohmann::json::parse(output_of(bench)).at("loss").get<double>();
  };
  const double whole = loss("");
  EXPECT_EQ(loss(""), whole);
  EXPECT_NE(loss("--set 'training.freeze=[embedding]'"), whole);
  EXPECT_NE(loss("--set 'training.lora={rank: 2, on: [attention]}'"), whole);
}

}  // namespace
}  // namespace ablate::commands
