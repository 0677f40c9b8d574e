#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::run {
namespace {

/// Runs of which only a part is trained.
class TrainedPartsTest : public ProgramTest {
 protected:
  Outcome train(const std::string& output, const std::string& sets) const {
    return shell(command(output, sets));
  }
  nlohmann::json result(const std::string& output) const {
    return read_json(run(output) / "result.json");
  }
  std::string log(const std::string& output) const { return read_file(run(output) / "log.txt"); }
};

TEST_F(TrainedPartsTest, ARunWithAdaptersIsUsedMergedEverywhere) {
  given_runs("plain");
  const std::string lora =
      "--set training.lora.rank=2 --set 'training.lora.on=[attention,feed_forward]' --set "
      "training.schedule.peak=3e-2 --set training.init_from.run=" +
      run("plain").string();
  ASSERT_TRUE(ends(train("lora", lora), 0));
  const auto plain = result("plain"), adapted = result("lora");
  EXPECT_EQ(adapted["parameters"], plain["parameters"]);
  EXPECT_EQ(plain["trained_parameters"], plain["parameters"]);
  // Of rank 2: qkv, out, up and down of an encoder's and a decoder's layer; `attention` does not
  // name cross_attention.
  const int layer = 2 * (16 + 48 + 16 + 16 + 2 * (16 + 32));
  EXPECT_EQ(adapted["trained_parameters"], 2 * layer);
  EXPECT_TRUE(says(log("lora"), "parameters are trained, the model has"));
  EXPECT_NE(adapted["validation_perplexity"], plain["validation_perplexity"]);
  const auto scores = scores_in(read_file(run("lora") / "result.json"));
  EXPECT_EQ(scores_in(output_of(program("eval", run("lora"), "--json 2>&1"))), scores);
  const auto weights = (folder_ / "weights").string(), imported = (folder_ / "imported").string();
  ASSERT_TRUE(ends(program("export", run("lora"), "--format safetensors --to", weights, "2>&1 &&",
                           kProgram, "import", weights, "--to", imported, "2>&1"),
                   0));
  EXPECT_FALSE(says(read_file(folder_ / "weights/model.safetensors"), "lora"));
  EXPECT_EQ(scores_in(output_of(program("eval", imported, "--json 2>&1"))), scores);
  // A run that starts from it gets the merged weights.
  ASSERT_TRUE(ends(
      train("again", "--set training.steps=0 --set training.init_from.run=" + run("lora").string()),
      0));
  EXPECT_EQ(result("again")["validation_perplexity"], adapted["validation_perplexity"]);
  EXPECT_EQ(result("again")["trained_parameters"], 0);
}

TEST_F(TrainedPartsTest, AFrozenRunRecordsWhatItTrainsAndCostsLess) {
  given_runs("plain");
  ASSERT_EQ(train("frozen", "--set 'training.freeze=[embedding,encoder]'").code, 0);
  const auto plain = result("plain"), frozen = result("frozen");
  EXPECT_LT(frozen["trained_parameters"], frozen["parameters"]);
  EXPECT_LT(frozen["training_flops"].get<double>(), 0.9 * plain["training_flops"].get<double>());
  EXPECT_TRUE(says(log("frozen"), "the output is frozen with the embedding"));
  ASSERT_EQ(program("report", folder_ / "frozen/tiny", "2>&1").code, 0);
  EXPECT_TRUE(says(read_file(folder_ / "frozen/tiny/table.txt"), " trained"));
}

}  // namespace
}  // namespace ablate::run
