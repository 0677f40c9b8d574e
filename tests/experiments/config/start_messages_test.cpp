#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

TEST(StartMessages, NamePartsThatTheModelOfAnArmDoesNotHave) {
  const auto parts = [](const Experiment& experiment) {
    std::vector<training::TrainingProblem> problems;
    for (const auto& words : experiment.training.freeze)
      problems.push_back({"freeze", "names " + words});
    return problems;
  };
  const auto yaml = kBase + "arms:\n  a: {}\n  b: {training.freeze: [x]}\n";
  EXPECT_EQ(messages_of(yaml, {.parts = parts}),
            "study.yaml:7:24: training.freeze names x (task 'copy', arm 'b')");
  EXPECT_EQ(messages_of(yaml + "  c: {training.steps: -1, training.freeze: [y]}\n",
                        {.arms = {"c"}, .parts = parts})
                .find("names y"),
            std::string::npos)
      << "only sound configurations are made into models";
}

TEST(StartMessages, NameTheArmWhoseTunedValuesAreNeeded) {
  const auto yaml = kBase +
                    "arms: {a: {}, b: {training.init_from: {arm: a}}}\n"
                    "tune: {by: shared, keys: {training.schedule.peak: [0.1, 0.2]}}\n";
  EXPECT_EQ(messages_of(yaml, {.arms = {"a", "b"}}), "");
  EXPECT_EQ(messages_of(yaml, {.arms = {"b"}}),
            "study.yaml:5:45: the arm 'b' starts from 'a' with the values that tune finds for it; "
            "select that arm, too");
}

class StartMessages : public testing::TestWithParam<MessageCase> {};

TEST_P(StartMessages, AreVerbatim) {
  EXPECT_EQ(messages_of(GetParam().yaml, {.sets = GetParam().sets}), GetParam().messages);
}

/// Arms `a`, of two layers with two heads, and `b`, which starts from it and has `more`.
std::string starting(const std::string& start, const std::string& more = "",
                     const std::string& first = "") {
  return kBase + "  model: {layers: 2, d_model: 16, attention: {heads: 2}}\narms:\n  a: {" + first +
         "}\n  b: {training.steps: 0, training.init_from: {arm: a, " + start + "}" + more + "}\n";
}

const std::string kDrop = "training.init_from.drop.";
const std::string kArm = " (task 'copy', arm 'b')";

const std::vector<MessageCase> kStartCases = {
    {"NothingToStartFrom", kTraining + "{init_from: {average: 2, weights: best}}\n",
     "study.yaml:5:35: training.init_from.average and weights exclude each other: it is the mean "
     "of the last ones\n"
     "study.yaml:5:35: training.init_from.average needs run or arm\n"
     "study.yaml:5:47: training.init_from.weights needs run or arm"},
    {"NothingToLeaveOutOf", kTraining + "{init_from: {drop: {layers: [encoder.layers.0]}}}\n",
     "study.yaml:5:26: training.init_from.drop needs run or arm"},
    {"NoStepsWithoutAStart", kTraining + "{steps: 0}\n",
     "study.yaml:5:21: training.steps must be from 1 to 1000000000"},
    {"AverageOfMoreThanAreMade", kTraining + "{steps: 900, average: 2}\n",
     "study.yaml:5:35: training.average exceeds the checkpoints that steps and save_every give"},
    {"FrozenWithAdapters", kTraining + "{freeze: [embedding], lora: {rank: 2}}\n",
     "study.yaml:5:22: training.freeze and lora exclude each other: with adapters only these are "
     "trained, and lora.train"},
    {"AdaptersOfNothing", kTraining + "{lora: {rank: -1, alpha: 0, on: [], train: [norm]}}\n",
     "study.yaml:5:27: training.lora.rank must be from 0 to 65536\n"
     "study.yaml:5:38: training.lora.alpha must be above 0\n"
     "study.yaml:5:45: training.lora.on must name a linear map\n"
     "study.yaml:5:56: training.lora.train needs rank"},
    {"AdaptersOfMup", kModel + "{parametrization: {kind: mup}}\n  training: {lora: {rank: 2}}\n",
     "study.yaml:5:35: model.parametrization.kind cannot be mup with training.lora, whose adapters "
     "have no rule for it"},
    {"SplitAndWithout",
     starting("split: random, drop: {layers: [encoder.layers.0]}",
              ", model.feed_forward: {kind: moe, router: {kind: oracle}}, "
              "model.encoder_layers: 1"),
     "study.yaml:8:70: training.init_from.drop and split exclude each other; leave the parts "
     "out in an arm between (task 'copy', arm 'b')"},
    {"NoHead", starting("drop: {heads: [encoder.layers.0.attention]}"),
     "study.yaml:8:69: training.init_from.drop.heads must name heads such as "
     "encoder.layers.0.attention.3 or decoder.layers.1.cross_attention.0, not "
     "'encoder.layers.0.attention'" +
         kArm},
    {"NoLayer", starting("drop: {layers: [encoder.1]}"),
     "study.yaml:8:70: training.init_from.drop.layers must name layers such as "
     "encoder.layers.1, not 'encoder.1'" +
         kArm},
    {"HeadTwice",
     starting("drop: {heads: [encoder.layers.0.attention.0, encoder.layers.0.attention.0]}"),
     "study.yaml:8:69: training.init_from.drop.heads names encoder.layers.0.attention.0 twice" +
         kArm},
    {"HeadOfALayerThatIsMissing",
     starting("drop: {heads: [encoder.layers.0.attention.0], layers: [encoder.layers.0]}",
              ", model.encoder_layers: 1"),
     "study.yaml:8:69: training.init_from.drop.heads names encoder.layers.0.attention.0, whose "
     "layer is left out as a whole" +
         kArm},
    {"UnknownHead", starting("drop: {heads: [decoder.layers.1.cross_attention.2]}"),
     "study.yaml:8:69: training.init_from.drop.heads names decoder.layers.1.cross_attention.2, "
     "and the heads of decoder.layers.1.cross_attention are 0 to 1" +
         kArm},
    {"HeadOfAnUnknownLayer", starting("drop: {heads: [encoder.layers.2.attention.0]}"),
     "study.yaml:8:69: training.init_from.drop.heads names encoder.layers.2.attention.0, and "
     "the model that it starts from has no encoder.layers.2.attention with heads" +
         kArm},
    {"UnknownLayer", starting("drop: {layers: [decoder.layers.2]}"),
     "study.yaml:8:70: training.init_from.drop.layers names decoder.layers.2, and the decoder "
     "that it starts from has the layers 0 to 1" +
         kArm},
    {"OtherNumberOfLayers", starting("drop: {layers: [decoder.layers.1]}"),
     "study.yaml:8:70: training.init_from.drop.layers leaves 1 of the 2 layers of the decoder, but "
     "this model has 2; write model.decoder_layers: 1" +
         kArm},
    {"AllLayers", starting("drop: {layers: [decoder.layers.0, decoder.layers.1]}"),
     "study.yaml:8:70: training.init_from.drop.layers leaves no layer of the decoder; keep one" +
         kArm},
    {"LayerWhoseNumberScalesOthers",
     starting("drop: {layers: [decoder.layers.1]}", ", model.decoder_layers: 1",
              "model.residual.depth: sqrt"),
     "study.yaml:8:70: training.init_from.drop.layers names decoder.layers.1, and the outputs of "
     "the other layers depend on the number of layers (residual.depth)" +
         kArm},
    {"SharedLayer",
     starting("drop: {layers: [decoder.layers.1]}", ", model.decoder_layers: 1",
              "model.share.layers: 1"),
     "study.yaml:8:70: training.init_from.drop.layers names decoder.layers.1, and the decoder "
     "that it starts from shares its layers (share.layers)" +
         kArm},
    {"LayerOfAStackWhoseLayersDiffer",
     starting("drop: {layers: [decoder.layers.1]}", ", model.decoder_layers: 1, model.changes: []",
              "model.changes: [{at: [2], attention: {kind: average}}]"),
     "study.yaml:8:70: training.init_from.drop.layers names decoder.layers.1, and the layers of "
     "the decoder that it starts from differ (model.changes)" +
         kArm},
    {"MeanOfMoreThanAreKept", starting("average: 3"),
     "study.yaml:8:64: training.init_from.average must be at most 2, the checkpoints of "
     "training.save_every that the run it starts from keeps" +
         kArm},
    {"MeanOfMoreThanAreMade", starting("average: 2", "", "training.save_every: 700"),
     "study.yaml:8:64: training.init_from.average must be at most 1, the checkpoints of "
     "training.save_every that the run it starts from keeps" +
         kArm},
    {"MeanOfARunThatIsNotTrained",
     starting("average: 2") +
         "  c: {training.steps: 0, training.init_from: {arm: b, average: 1}}\n",
     "study.yaml:9:64: training.init_from.average must be at most 0, the checkpoints of "
     "training.save_every that the run it starts from keeps (task 'copy', arm 'c')"},
    {"BestOfARunWithoutValidation", starting("weights: best"),
     "study.yaml:8:64: training.init_from.weights cannot be best: the run that it starts from has "
     "no training.evaluate_every, which the choice of the best needs" +
         kArm},
    {"BestByTheTextThatTests",
     kHead + "base:\n  data: {task: language, train: a.txt}\n  model: {family: decoder_only}\n"
             "  training: {evaluate_every: 5}\narms:\n  a: {}\n"
             "  b: {training.steps: 0, training.init_from: {arm: a, weights: best}}\n",
     "study.yaml:9:64: training.init_from.weights cannot be best: it was chosen on the test text; "
     "name another file in data.test or, for running text, give data.test_held_out a share (task "
     "'language', arm 'b')"},
    {"AnotherWidth", starting("weights: last", ", model.d_model: 32"),
     "study.yaml:8:52: training.init_from.arm brings a model of model.d_model 16, and this "
     "configuration has 32; write model.d_model: 16" +
         kArm},
    {"AnotherWidthThatIsAllowed",
     starting("allow: [encoder, decoder, embedding]", ", model.d_model: 32"), ""},
    {"AverageThatIsNotKept", starting("weights: ema"),
     "study.yaml:8:64: training.init_from.weights cannot be ema: the run that it starts from has "
     "no training.ema" +
         kArm},
    {"TunedArmThatStartsFromAnother",
     starting("weights: last") + "tune: {by: shared, keys: {training.schedule.peak: [0.1, 0.2]}}\n",
     ""},
    {"TunedArmThatDoesNotTrain",
     kBase + "arms: {a: {}, b: {training.steps: 0, training.init_from: {run: r}}}\n"
             "tune: {by: shared, keys: {training.schedule.peak: [0.1, 0.2]}}\n",
     "study.yaml:5:35: the arm 'b' only evaluates a finished run (training.steps: 0), so nothing "
     "can "
     "be tuned for it; give such arms a study without tune"},
};

INSTANTIATE_TEST_SUITE_P(Each, StartMessages, testing::ValuesIn(kStartCases),
                         [](const auto& one) { return one.param.name; });

const std::string kCompared = "compare: {baseline: a, metric: bleu}\n";

TEST(EvaluatedArm, MayBeComparedWithWhatItStartsFrom) {
  EXPECT_EQ(messages_of(starting("weights: last") + kCompared), "");
  EXPECT_EQ(
      messages_of(starting("drop: {layers: [encoder.layers.0]}", ", model.encoder_layers: 1") +
                  kCompared),
      "");
}

TEST(EvaluatedArm, OfAnArmThatTrainedOtherwiseIsRefusedWithThatArm) {
  const auto study = starting("weights: last", "", "training.steps: 5");
  EXPECT_EQ(messages_of(study + "  c: {}\ncompare: {baseline: c, metric: bleu}\n"),
            "study.yaml:7:23: training.steps of the arm 'a' is not the baseline's; if that is "
            "intended, write compare: { allow: [steps] }");
  EXPECT_EQ(messages_of(study + "  c: {}\ncompare: {baseline: b, metric: bleu}\n"),
            "study.yaml:1:1: training.steps of the arm 'c' is not the baseline's; if that is "
            "intended, write compare: { allow: [steps] }");
}

TEST(EvaluatedArm, OfARunFromElsewhereHasStepsThatTheStudyDoesNotKnow) {
  EXPECT_EQ(messages_of(kBase +
                        "arms:\n  a: {}\n  b: {training.steps: 0, "
                        "training.init_from.run: x}\n" +
                        kCompared),
            "study.yaml:7:23: training.steps of the arm 'b' is not the baseline's; if that is "
            "intended, write compare: { allow: [steps] }");
}

TEST(EvaluatedArm, DoesNotTrainWhateverTheBudget) {
  const auto run = run_of(starting("weights: last", ", training.budget: {kind: tokens}"), "b");
  EXPECT_FALSE(run.experiment.training.trains());
}

TEST(EvaluatedArm, HasBeenThroughTheTrainingOfTheFirstArmOfItsChain) {
  const auto study = study_of(starting("weights: last") +
                              "  c: {training.steps: 0, training.init_from.arm: b}\n"
                              "  d: {training.init_from.arm: c}\n");
  const auto trained = [&](const std::string& arm) {
    return trained_by(study.configurations, "copy", arm)->arm;
  };
  EXPECT_EQ(trained("b"), "a");
  EXPECT_EQ(trained("c"), "a");
  EXPECT_EQ(trained("d"), "d");
  EXPECT_EQ(trained_by(study.configurations, "copy", "e"), nullptr);
}

}  // namespace
}  // namespace ablate::config
