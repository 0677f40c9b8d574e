#include "experiments/config/study/study.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

/// The first block of YAML behind a heading of docs/studies.md.
std::string example_below(const std::string& heading) {
  const auto page = read_file(std::string(ABLATE_SOURCE) + "/docs/studies.md");
  const std::string fence = "```yaml\n";
  const auto begin = page.find(fence, page.find("\n## " + heading + "\n")) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

class LayerExamplesTest : public ProgramTest {
 protected:
  LayerExamplesTest() {
    write_file(study(),
               "name: layers\nseeds: [1]\n"
               "tasks: {copy: {data: {task: copy, symbols: 8, train_length: [3, 6], test_length: "
               "[6], examples: {train: 200, validation: 5, test: 5}}}}\n" +
                   example_below("Layers that differ"));
  }

  /// The negative log-likelihood of every update of an arm.
  std::vector<double> losses_of(const std::string& arm) const {
    std::vector<double> losses;
    const auto folder = folder_ / "out/layers/copy" / arm / "seed-1";
    for (const auto& json : json_lines(read_file(folder / "metrics.jsonl"))) {
      if (json.contains("negative_log_likelihood"))
        losses.push_back(json["negative_log_likelihood"].get<double>());
    }
    return losses;
  }

  // A small model, trained for a moment.
  const std::vector<std::string> sets_{"tokenizer.kind=word",
                                       "model.d_model=32",
                                       "model.feed_forward.d_hidden=32",
                                       "training.steps=60",
                                       "training.tokens_per_batch=128",
                                       "training.max_length=32",
                                       "training.schedule.warmup=10",
                                       "training.log_every=1"};
};

TEST_F(LayerExamplesTest, EachIsAModelOfItsOwnThatLearns) {
  std::string sets;
  for (const auto& set : sets_) sets += " --set '" + set + "'";
  ASSERT_TRUE(ends(shell(command("out", sets)), 0));
  for (const auto* arm :
       {"local_and_global", "hybrid", "experts", "some_know_no_position", "another_last_norm"}) {
    const auto folder = folder_ / "out/layers/copy" / arm / "seed-1";
    EXPECT_TRUE(says(read_file(folder / "config.yaml"), "  changes: [{")) << arm;
    const auto losses = losses_of(arm);
    ASSERT_EQ(losses.size(), 60U) << arm;
    EXPECT_LT(losses.back(), losses.front() - 0.5) << arm;
  }
}

TEST_F(LayerExamplesTest, HaveTheLayersThatTheirCommentsSay) {
  const auto examples = config::read_study(study(), {.sets = sets_});
  const auto layers_of = [&](const std::string& arm) {
    const auto* found = config::configuration_of(examples.configurations, "copy", arm);
    return models::stack_of(found->experiment.model, models::Side::decoder).layers;
  };
  const auto windows = layers_of("local_and_global");
  EXPECT_EQ(std::get<models::MultiHead>(windows[4].attention).window, 64);
  EXPECT_FALSE(std::get<models::MultiHead>(windows[5].attention).window);
  const auto hybrid = layers_of("hybrid");
  EXPECT_TRUE(std::holds_alternative<models::DeltaRule>(hybrid[3].attention));
  EXPECT_TRUE(std::holds_alternative<models::MultiHead>(hybrid[5].attention));
  const auto experts = layers_of("experts");
  EXPECT_TRUE(std::holds_alternative<models::DenseFeedForward>(experts[0].feed_forward));
  EXPECT_TRUE(std::holds_alternative<models::MixtureOptions>(experts[1].feed_forward));
  const auto positions = layers_of("some_know_no_position");
  EXPECT_TRUE(std::holds_alternative<models::Rotary>(positions[1].position));
  EXPECT_TRUE(std::holds_alternative<models::NoPosition>(positions[2].position));
  const auto norms = layers_of("another_last_norm");
  EXPECT_EQ(norms[4].norm.kind, models::NormKind::layer);
  EXPECT_EQ(norms[5].norm.kind, models::NormKind::rms);
}

}  // namespace
}  // namespace ablate::commands
