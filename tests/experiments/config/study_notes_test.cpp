#include "experiments/config/study/study_notes.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

using Notes = std::vector<std::string>;

const std::string kShort = kTraining + "{steps: 100, schedule: {warmup: 10}}\n";

TEST(StudyNotes, AreSilentAboutAStudyThatMeansWhatItSays) {
  EXPECT_EQ(study_of(kShort + "arms: {a: {}, b: {model.dropout: 0.2}}\n").notes, Notes());
}

TEST(StudyNotes, NameArmsThatAreTheSame) {
  EXPECT_EQ(study_of(kShort + "arms: {a: {}, b: {model.position.kind: sinusoidal}}\n").notes,
            Notes{"the arms 'a' and 'b' are the same: their changes make no difference"});
}

TEST(StudyNotes, ArmsThatDifferInOneTaskAreNotTheSame) {
  EXPECT_EQ(study_of(kShort + "tasks: {t: {}, u: {model.position.kind: none}}\n"
                              "arms: {a: {}, b: {model.position.kind: sinusoidal}}\n")
                .notes,
            Notes());
}

TEST(StudyNotes, NameAWarmUpThatNeverEnds) {
  const std::string why =
      ", so the learning rate never reaches its peak (training.schedule.warmup)";
  EXPECT_EQ(study_of(kTraining + "{steps: 100, schedule: {warmup: 101}}\n").notes,
            Notes{"the warm-up takes 101 steps and the run 100" + why});
  EXPECT_EQ(study_of(kTraining + "{steps: 100, schedule: {warmup: 100}}\n").notes, Notes());
  EXPECT_EQ(study_of(kShort + "arms: {a: {}, b: {training.steps: 5}}\n").notes,
            Notes{"the warm-up takes 10 steps and the run 5" + why + " (copy/b)"});
}

TEST(StudyNotes, NameAttentionWithOtherHeadsThatNobodyGave) {
  const auto notes = [](const std::string& other) {
    return study_of(kBase +
                    "  training: {schedule: {warmup: 10}}\n  model: {attention: {heads: 4}, "
                    "cross_attention: " +
                    other + "}\n")
        .notes;
  };
  EXPECT_EQ(notes("{kind: multi_head, d_k: 8}"),
            Notes{"model.cross_attention.heads is 8 by default, but model.attention.heads is 4"});
  EXPECT_EQ(notes("{kind: multi_head, heads: 8}"), Notes());
  EXPECT_EQ(notes("{kind: none}"), Notes());
}

TEST(StudyNotes, NameKeysThatNothingReadsBesideOthers) {
  const auto notes = [](const std::string& task, const std::string& more) {
    return study_of(kHead + "base:\n  data: {" + task +
                    "}\n  training: {steps: 100, schedule: {warmup: 10}" + more)
        .notes;
  };
  const std::string alone = "  model: {family: decoder_only}\n", copy = "task: copy";
  EXPECT_EQ(notes(copy, ", budget: {kind: tokens, tokens: 9}}\n"),
            Notes{"training.steps is given but ignored, since training.budget gives their number"});
  EXPECT_EQ(notes(copy, ", lora: {rank: 0, alpha: 4}, length_warmup: {shortest: 4}}\n"),
            (Notes{"training.length_warmup.shortest is given but ignored, since "
                   "training.length_warmup.share is 0",
                   "training.lora.alpha is given but ignored, since training.lora.rank is 0"}));
  EXPECT_EQ(notes(copy, ", lora: {rank: 2, alpha: 4, on: [attention]}}\n"), Notes());
  EXPECT_EQ(
      notes(copy, ", lr_multipliers: {output: 2}}\n"),
      Notes{"training.lr_multipliers.output is given but ignored, since model.tying makes the "
            "output one with an embedding"});
  EXPECT_EQ(notes(copy, "}\n  model: {layers: 3, encoder_layers: 2, decoder_layers: 1}\n"),
            Notes{"model.layers is given but ignored, since every side has a number of its own"});
  EXPECT_EQ(
      notes("task: tokens, train: a, validation: b, vocabulary: 9",
            "}\n  tokenizer: {kind: word}\n" + alone),
      Notes{"tokenizer.kind is given but ignored, since data.vocabulary says that the ids are "
            "written as numbers"});
  EXPECT_EQ(
      notes("task: language, train: a, validation: b, held_out: 0.2, masked: 0.2", "}\n" + alone),
      (Notes{"data.held_out is given but ignored, since data.validation names the text",
             "data.masked is given but ignored, since the model reads no masks"}));
  EXPECT_EQ(notes("task: labelled, train: a, validation: b, test: c",
                  "}\n  model: {family: encoder_only, tying: none, output: {kind: label}}\n"
                  "  decoding: {batch: 3, beam: 4}\n"),
            Notes{"decoding.beam is given but ignored, since a classifier searches for no text"});
}

TEST(StudyNotes, NameSeedsThatAreTooFewForEqualityOrNoLoss) {
  const auto notes = [](int seeds, const std::string& compare) {
    std::string list = "1";
    for (int seed = 2; seed <= seeds; ++seed) list += ", " + std::to_string(seed);
    auto yaml = kShort + "arms: {a: {}, b: {model.dropout: 0.2}, c: {model.dropout: 0.3}}\n" +
                "compare: {baseline: a, metric: bleu, " + compare + "}\n";
    return study_of(yaml.replace(yaml.find("[1]"), 3, "[" + list + "]")).notes;
  };
  // 1 / 2^4 > 0.05 >= 1 / 2^5, and 2 / 2^5 > 0.05 >= 2 / 2^6
  const std::string one = "arms: {b: {margin: 2}}";
  EXPECT_EQ(notes(4, one), Notes{"4 seeds cannot show that an arm is equal or no worse: 1 "
                                 "comparison with a margin takes 5 (docs/statistics.md)"});
  EXPECT_EQ(notes(5, one), Notes());
  EXPECT_EQ(notes(5, "margin: 2"),
            Notes{"5 seeds cannot show that an arm is equal or no worse: 2 comparisons with a "
                  "margin take 6 (docs/statistics.md)"});
  EXPECT_EQ(notes(6, "margin: 2"), Notes());
  EXPECT_EQ(notes(2, "margin: 2, test: t"), Notes());
  EXPECT_EQ(notes(1, "claim: superior"), Notes());
}

TEST(StudyNotes, LeaveTheWarmUpOfOtherBudgetsToTheDryRun) {
  const auto run =
      study_of(kTraining + "{schedule: {warmup: 2000}, budget: {kind: tokens, tokens: 100000}}\n");
  EXPECT_EQ(run.notes, Notes());
  EXPECT_EQ(training_notes(run.runs[0].experiment.training, 1999).size(), 1U);
  EXPECT_EQ(training_notes(run.runs[0].experiment.training, 2000), Notes());
}

}  // namespace
}  // namespace ablate::config
