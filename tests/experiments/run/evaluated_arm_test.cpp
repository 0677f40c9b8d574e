#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "experiments/records/failure.h"
#include "experiments/records/result.h"
#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"
#include "tests/says.h"
#include "training/checkpoint/checkpoint.h"
#include "training/storage/run_log.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

constexpr const char* kArms = R"(
arms:
  base: {}
  beams: { training.steps: 0, training.init_from: { arm: base }, decoding.beam: 4 }
  headless: { training.steps: 0, training.init_from: { arm: base, drop: { heads: [decoder.layers.1.cross_attention.0] } } }
  shallow:
    training.steps: 0
    training.init_from: { arm: base, drop: { layers: [decoder.layers.0] } }
    model.decoder_layers: 1
  averaged: { training.steps: 0, training.init_from: { arm: base, average: 2 } }
  again: { training.steps: 0, training.init_from: { arm: averaged } }
compare: { baseline: base, metric: exact_match }
)";

/// A study of one arm that trains and of arms that are evaluated with its weights.
class EvaluatedArmTest : public ProgramTest {
 protected:
  EvaluatedArmTest() {
    change("layers: 1", "layers: 2");
    change("evaluate_every: 15", "evaluate_every: 20");
    change("save_every: 7", "save_every: 20");
    tiny_ = read_file(study());
    append(kArms);
  }

  std::filesystem::path arm(const std::string& name, const std::string& output = "out") const {
    return folder_ / output / "tiny/copy" / name / "seed-1";
  }
  records::RunResult result(const std::string& name) const {
    return records::read_result(arm(name)).value();
  }
  training::Checkpoint checkpoint(const std::string& name, int64_t step) const {
    return training::load_checkpoint(
        arm(name) / "checkpoints" /
        ("step-000000" + std::string(step < 10 ? "0" : "") + std::to_string(step)));
  }
  training::Tensors weights(const std::string& name, int64_t step) const {
    return checkpoint(name, step).model;
  }
  /// The outputs of a run on its test sets.
  std::string outputs(const std::string& name) const {
    return read_file(arm(name) / "output-length-4.txt") +
           read_file(arm(name) / "output-length-5.txt");
  }

  std::string tiny_;
};

TEST_F(EvaluatedArmTest, HasTheWeightsThatItsArmNamesAndIsReportedAsNotTrained) {
  const auto output = output_of(shell(command("out")));
  const auto printed = std::regex_replace(output, std::regex("\\s+"), " ");  // lines are broken
  for (const auto& [name, evaluated] : std::map<std::string, std::string>{
           {"beams", "last of base"},
           {"headless", "last of base without decoder.layers.1.cross_attention.0"},
           {"shallow", "last of base without decoder.layers.0"},
           {"averaged", "average of 2 checkpoints (steps 40 to 60) of base"},
           {"again", "average of 2 checkpoints (steps 40 to 60) of base, by way of averaged"}}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(result(name).weights, evaluated);
    EXPECT_EQ(result(name).steps, 0);
    EXPECT_EQ(result(name).earlier_steps, 60);
    EXPECT_EQ(result(name).tokens, 0);
    EXPECT_TRUE(std::isnan(result(name).train_loss));
    EXPECT_FALSE(std::filesystem::exists(arm(name) / "metrics.jsonl"));
    EXPECT_TRUE(
        says(printed, "copy: " + name + " was not trained; evaluated weights: " + evaluated + "."));
  }
  EXPECT_FALSE(says(output, "base was not trained"));

  EXPECT_EQ(read_file(arm("beams") / "checkpoints/step-00000000/model.safetensors"),
            read_file(arm("base") / "checkpoints/step-00000060/model.safetensors"));
  EXPECT_NE(outputs("beams"), outputs("base"));
  EXPECT_EQ(result("beams").validation_perplexity, result("base").validation_perplexity);

  const auto base = weights("base", 60), headless = weights("headless", 0);
  for (const auto& [name, tensor] : headless) {
    auto expected = base.at(name).clone();
    if (name == "decoder.layers.1.cross_attention.out.weight") expected.narrow(1, 0, 8).zero_();
    EXPECT_TRUE(torch::equal(tensor, expected)) << name;
  }
  EXPECT_NE(result("headless").validation_perplexity, result("base").validation_perplexity);

  const auto shallow = weights("shallow", 0);
  EXPECT_TRUE(torch::equal(shallow.at("decoder.layers.0.attention.qkv.weight"),
                           base.at("decoder.layers.1.attention.qkv.weight")));
  EXPECT_LT(result("shallow").parameters, result("base").parameters);

  const auto averaged = weights("averaged", 0), before = weights("base", 40);
  for (const auto& [name, tensor] : averaged)
    EXPECT_TRUE(torch::allclose(tensor, (base.at(name) + before.at(name)) / 2)) << name;
  EXPECT_EQ(result("again").validation_perplexity, result("averaged").validation_perplexity);
}

TEST_F(EvaluatedArmTest, IsARunAsAnyOtherToOtherVerbs) {
  given_runs("out", "--arms base,beams,averaged");
  const auto evaluated = program("eval", arm("averaged"), "--json");
  EXPECT_EQ(scores_in(evaluated.output), scores_in(read_file(arm("averaged") / "result.json")));
  EXPECT_TRUE(ends(program("report", folder_ / "out/tiny", "2>&1"), 0));
  EXPECT_TRUE(ends(
      program("export", arm("averaged"), "--format safetensors --to", folder_ / "weights"), 0));
  EXPECT_TRUE(ends(shell(command("out", "--arms averaged --dry-run --json")), 0));
}

TEST_F(EvaluatedArmTest, IsObservedOnce) {
  const std::string arms = "--arms base,beams,shallow --set training.observe.every=30";
  ASSERT_TRUE(ends(shell(command("out", arms)), 0));
  const auto base = result("base"), beams = result("beams"), shallow = result("shallow");
  EXPECT_GT(beams.attention_entropy, 0);
  EXPECT_EQ(beams.attention_entropy, base.attention_entropy);
  EXPECT_EQ(beams.rank_residual, base.rank_residual);
  EXPECT_EQ(beams.active_neurons, base.active_neurons);
  EXPECT_TRUE(std::isnan(beams.update_ratio) && std::isnan(beams.gradient_noise));
  EXPECT_NE(shallow.rank_residual, base.rank_residual);
  for (const auto& line : training::read_run_log(arm("beams") / "metrics.jsonl"))
    EXPECT_EQ(line.at("step"), 0);
  EXPECT_TRUE(ends(program("report", folder_ / "out/tiny", "2>&1"), 0));
  EXPECT_TRUE(
      says(read_file(folder_ / "out/tiny/report.html"), "Last observation of beams, after step 0"));
}

TEST_F(EvaluatedArmTest, ThatIsKilledOrEvaluatedAgainGivesTheSame) {
  const std::string arms = "--arms base,averaged";
  ASSERT_EQ(shell(command("whole", arms)).code, 0);
  given_runs("out", "--arms base");
  {
    const HeldBeforeSaving held(arm("averaged"));
    const pid_t process = start_process(command("out", arms));
    EXPECT_TRUE(eventually(
        [&] { return std::filesystem::exists(arm("averaged") / "initial_weights.json"); }));
    kill(process, SIGTERM);
    EXPECT_EQ(end_of(process), 75);
  }
  EXPECT_FALSE(std::filesystem::exists(arm("averaged") / "result.json"));
  ASSERT_EQ(shell(command("out", arms)).code, 0);
  const auto scores = [&](const std::string& output) {
    return scores_in(read_file(arm("averaged", output) / "result.json"));
  };
  EXPECT_EQ(scores("out"), scores("whole"));
  // Its own checkpoint has what it was evaluated with.
  std::filesystem::remove(arm("averaged") / "result.json");
  std::filesystem::remove_all(arm("base") / "checkpoints");
  ASSERT_EQ(shell(command("out", arms)).code, 0);
  EXPECT_EQ(scores("out"), scores("whole"));
  EXPECT_EQ(result("averaged").weights, "average of 2 checkpoints (steps 40 to 60) of base");
}

TEST_F(EvaluatedArmTest, KeepsNothingOfTheTrainingThatItInherits) {
  write_file(study(), tiny_ + R"(
arms:
  base: {}
  beams: { training.steps: 0, training.init_from: { arm: base, weights: best }, decoding.beam: 4 }
)");
  ASSERT_TRUE(ends(shell(command("out",
                                 "--set training.patience=3 --set training.ema=0.5 --set "
                                 "training.budget.kind=tokens --set "
                                 "training.budget.tokens=3000")),
                   0));
  EXPECT_GT(result("base").steps, 0);
  EXPECT_EQ(result("beams").steps, 0);
  EXPECT_EQ(result("beams").weights, "best of base");
  const auto last = training::load_checkpoint(
      training::list_checkpoints(arm("base") / "checkpoints").back().path);
  auto best = checkpoint("base", last.state.at("best_step").get<int64_t>());
  EXPECT_TRUE(torch::equal(weights("beams", 0).at("embedding"),
                           training::extract_ema(best.optimizer).at("embedding")))
      << "the exponential average, which was validated";
}

TEST_F(EvaluatedArmTest, TrainsOnFromWhatIsLeftWhereItHasSteps) {
  write_file(study(), tiny_ + R"(
arms:
  base: {}
  shallow:
    training.steps: 3
    training.init_from: { arm: base, drop: { layers: [decoder.layers.1], heads: [encoder.layers.0.attention.1] } }
    model.decoder_layers: 1
)");
  const auto output = output_of(shell(command("out")));
  EXPECT_EQ(result("shallow").steps, 3);
  EXPECT_EQ(result("shallow").earlier_steps, 60);
  EXPECT_EQ(result("shallow").weights, "last");
  EXPECT_FALSE(says(output, "shallow was not trained"));
  const auto base = weights("base", 60), shallow = weights("shallow", 3);
  // Three small steps away from what was left, and from zero where a head is missing.
  EXPECT_LT((base.at("decoder.layers.0.attention.qkv.weight") -
             shallow.at("decoder.layers.0.attention.qkv.weight"))
                .abs()
                .max()
                .item<double>(),
            0.02);
  const auto missing = shallow.at("encoder.layers.0.attention.out.weight").narrow(1, 8, 8).abs();
  EXPECT_LT(missing.max().item<double>(), 0.02);
  EXPECT_GT(missing.max().item<double>(), 0) << "nothing keeps it at zero";
}

TEST_F(EvaluatedArmTest, WithAnotherModelIsRefused) {
  const auto refused = [&](const std::string& change, int steps = 0) {
    write_file(study(),
               tiny_ + "arms:\n  base: {}\n  other: { training.steps: " + std::to_string(steps) +
                   ", training.init_from.arm: base, " + change + " }\n");
    const auto outcome = shell(command("out"));
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    std::filesystem::remove_all(folder_ / "out");
    return outcome.output;
  };
  const auto wider = refused("model.feed_forward.d_hidden: 48");
  EXPECT_TRUE(says(wider, "they would not be trained"));
  EXPECT_TRUE(says(wider,
                   "decoder.layers.0.feed_forward.down.weight [16, 48], of which that run's "
                   "is [16, 32]"));
  const auto shorter = refused("model.layers: 1");
  EXPECT_TRUE(says(shorter, "the arm's model has no place for weights of"));
  EXPECT_TRUE(says(shorter, "name the unused parts in training.init_from.drop or .allow"));
  const auto trained = refused("model.feed_forward.d_hidden: 48", 2);
  EXPECT_TRUE(says(trained, "name the parameters that may keep their initial values"));
  const auto words = refused("tokenizer.vocabulary: 9");
  EXPECT_TRUE(
      says(words, "training.init_from.arm brings a tokenizer with tokenizer.vocabulary null"));
}

TEST_F(EvaluatedArmTest, OfARunThatDivergedIsNotSentToRunItAgain) {
  given_runs("out", "--arms base");
  std::filesystem::remove(arm("base") / "result.json");
  records::write_failure(arm("base"), {.exit_code = 5, .message = "step 3: the loss is nan"});
  EXPECT_TRUE(ends(shell(command("out", "--arms beams")), 2,
                   "base/seed-1 has diverged, which it would do again (failed with exit code 5: "
                   "step 3: the loss is nan); choose other values for the arm 'base'"));
}

TEST_F(EvaluatedArmTest, OfARunFromElsewhereIsHeldToItsModel) {
  given_runs("out", "--arms base");
  const auto other = replaced(tiny_, "name: tiny", "name: other");
  const auto from = arm("base").string();
  const auto started = [&](const std::string& start) {
    std::filesystem::remove_all(folder_ / "other");
    write_file(folder_ / "other.yaml", other +
                                           "arms:\n  b: { training.steps: 0, "
                                           "training.init_from: { run: " +
                                           from + ", " + start + " } }\n");
    const auto file = (folder_ / "other.yaml").string();
    const auto check = program("config check", file, "2>&1");
    const auto outcome = program("run", file, "--output", folder_, "2>&1");
    EXPECT_EQ(check.code, outcome.code) << check.output;
    return outcome;
  };
  ASSERT_TRUE(ends(started("weights: last"), 0));
  EXPECT_EQ(scores_in(read_file(folder_ / "other/copy/b/seed-1/result.json")),
            scores_in(read_file(arm("base") / "result.json")));
  EXPECT_TRUE(ends(started("drop: { heads: [encoder.layers.0.attention.2] }"), 2,
                   "names encoder.layers.0.attention.2, and the heads of "
                   "encoder.layers.0.attention are 0 to 1"));
  EXPECT_TRUE(ends(started("average: 3"), 2, "must be at most 2"));
  EXPECT_TRUE(ends(shell(kProgram + " config check " + (folder_ / "other.yaml").string() +
                         " --set training.init_from.run=" + (folder_ / "out").string() + " 2>&1"),
                   4, "is not a run folder"));
  std::filesystem::remove(arm("base") / "result.json");
  EXPECT_TRUE(ends(started("weights: last"), 2, "base/seed-1 is not finished"));
}

}  // namespace
}  // namespace ablate::run
