#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

class StudyMessages : public testing::TestWithParam<MessageCase> {};

TEST_P(StudyMessages, AreVerbatim) {
  EXPECT_EQ(messages_of(GetParam().yaml, {.sets = GetParam().sets}), GetParam().messages);
}

const std::string kComparable =
    "exact_match, token_accuracy, bleu, chrf, perplexity, loss, nats_per_character, "
    "bits_per_character, divergence, bits_per_parameter, rouge_1, rouge_2, rouge_l, "
    "word_error_rate, exact_match_raw, "
    "word_error_rate_raw, tokens_per_pass, decode_seconds, train_loss, validation_perplexity, "
    "validation_token_accuracy, expert_imbalance, steps_to_target, tokens_to_target, "
    "flops_to_target or seconds_to_target";

const std::string kLanguage =
    kHead + "base: {data: {task: language, train: x.txt}, model: {family: decoder_only}}\n";

const std::vector<MessageCase> kStudyCases = {
    {"BrokenRuleInOneArm", kBase + "arms:\n  a: {}\n  b: {model.dropout: 2}\n",
     "study.yaml:7:22: model.dropout must be at least 0 and below 1 (task 'copy', arm 'b')"},
    {"BrokenRuleInOneOfTwoTasksIsReportedOnce",
     kHead + "base: {model: {dropout: 2}}\ntasks:\n  t: {data: {task: copy}}\n  u: {data: {task: "
             "sort}}\n",
     "study.yaml:3:25: model.dropout must be at least 0 and below 1"},
    {"DuplicateDottedKey",
     kBase + "arms:\n  a:\n    model.dropout: 0.1\n    model: {dropout: 0.2}\n",
     "study.yaml:8:13: duplicate key 'dropout'; first given in line 7"},
    {"MalformedPath", kBase + "arms: {a: {model..dropout: 0.1}}\n",
     "study.yaml:5:12: 'model..dropout' is not a key path"},
    {"UnknownDottedPath", kBase + "arms: {a: {model.positon.kind: learned}}\n",
     "study.yaml:5:18: unknown key 'positon' in model; did you mean 'position'?"},
    {"AWordThatBeginsLikeAKey", kBase + "match: {params: baseline, by: model.layers}\n",
     "study.yaml:5:1: match needs 'parameters: baseline' and 'by', the key to solve for\n"
     "study.yaml:5:1: match needs compare.baseline, whose parameters the other arms get\n"
     "study.yaml:5:9: unknown key 'params' in match; did you mean 'parameters'?"},
    {"AFitOverTwoArms",
     kBase +
         "arms: {a: {}, b: {model.layers: 2}}\ncompare: {baseline: a, metric: bleu, fit: power}\n",
     "study.yaml:6:43: compare.fit: power needs three sizes or more, and the study has 2 arms; add "
     "some, or leave it out"},
    {"AFitOverTwoSizes",
     kBase + "arms: {a: {}, b: {model.bias: false}, c: {model.dropout: 0}}\nsizes: {s: {}, l: "
             "{model.layers: 8}}\ncompare: {baseline: a, metric: bleu, fit: power}\n",
     "study.yaml:7:43: compare.fit: power needs three sizes or more, and the study has 2 sizes; "
     "add "
     "some, or leave it out"},
    {"ArmsAreAList", kBase + "arms: [a, b]\n",
     "study.yaml:5:7: arms must be a mapping of arm names to changes"},
    {"ArmIsAScalar", kBase + "arms: {a: learned}\n",
     "study.yaml:5:11: arm 'a' must be a mapping of changes, not a single value"},
    {"ArmNameIsAPath", kBase + "arms: {a/b: {}}\n",
     "study.yaml:5:8: arm name 'a/b' may hold only letters, digits, '.', '_', '=' and '-'"},
    {"TaskNameIsDots", kBase + "tasks: {..: {}}\n",
     "study.yaml:5:9: task name '..' may hold only letters, digits, '.', '_', '=' and '-'"},
    {"NameMissing", "seeds: [1]\nbase: {data: {task: copy}}\n",
     "study.yaml:1:1: missing key 'name'; it names the output folder"},
    {"NameEmpty", "name: ''\nseeds: [1]\nbase: {data: {task: copy}}\n",
     "study.yaml:1:7: the study has no name"},
    {"SeedsMissing", "name: s\nbase: {data: {task: copy}}\n",
     "study.yaml:1:1: missing key 'seeds'; write [1]"},
    {"SeedsEmpty", "name: s\nseeds: []\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seeds must list at least one seed"},
    {"SeedsAreACount", "name: s\nseeds: 3\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seeds must be a list; write [1, 2, 3] for 3 seeds, or [3] for seed 3 alone"},
    {"SeedsAreARange", "name: s\nseeds: 1-3\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seeds must be a list; write [1, 2, 3]"},
    {"SeedsAreARangeOfDots", "name: s\nseeds: 0..2\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seeds must be a list; write [0, 1, 2]"},
    {"SeedsAreACall", "name: s\nseeds: range(3)\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seeds must be a list; write all of them, such as [1, 2, 3]"},
    {"SeedIsNoList", "name: s\nseeds: 1\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seeds must be a list; write [1]"},
    {"SeedTwice", "name: s\nseeds: [1, 2, 1]\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seed 1 is given twice"},
    {"SeedNegative", "name: s\nseeds: [-1]\nbase: {data: {task: copy}}\n",
     "study.yaml:2:8: seed -1 must not be negative"},
    {"UnknownArmToStartFrom", kBase + "arms: {a: {}, b: {training.init_from.arm: c}}\n",
     "study.yaml:5:43: unknown arm 'c' in training.init_from.arm; choose a or b"},
    {"ArmStartsFromALaterOne", kBase + "arms: {a: {training.init_from.arm: b}, b: {}}\n",
     "study.yaml:5:36: the arm 'a' cannot start from 'b', which must come before it in the file"},
    {"UnknownBaseline",
     kBase + "arms: {sinusoidal: {}}\ncompare: {baseline: sinusoidall, metric: bleu}\n",
     "study.yaml:6:21: unknown arm 'sinusoidall' in compare.baseline; did you mean 'sinusoidal'?"},
    {"UnknownMetric", kBase + "compare: {baseline: base, metric: blue}\n",
     "study.yaml:5:35: unknown metric 'blue' in compare; did you mean 'bleu'?"},
    {"BaselineMissing", kBase + "compare: {metric: bleu}\n",
     "study.yaml:5:1: compare needs 'baseline', one of the arms"},
    {"MetricMissing", kBase + "compare: {baseline: base}\n",
     "study.yaml:5:1: compare needs 'metric'; choose " + kComparable},
    {"MetricWithoutADirection", kBase + "compare: {baseline: base, metric: length_ratio}\n",
     "study.yaml:5:35: unknown metric 'length_ratio' in compare; choose " + kComparable},
    {"TestSetsOfATaskThatIsNotComparedOnThem",
     kBase + "compare: {baseline: base, metric: train_loss, test_sets: {copy: [length 12]}}\n",
     "study.yaml:5:47: 'copy' is compared by train_loss, which is not measured on test sets; leave "
     "it "
     "out of compare.test_sets"},
    {"ComparedByWhatIsNotMeasured", kLanguage + "compare: {baseline: base, metric: bleu}\n",
     "study.yaml:4:35: bleu is not measured in the task 'language'; give the task another metric "
     "in compare.metrics"},
    {"ExpectingWhatIsNotMeasured", kLanguage + "expect: ['base.chrf > 3']\n",
     "study.yaml:4:9: expect: chrf is not measured in the task 'language'"},
    {"ComparedByProbabilitiesThatNobodyKnows",
     kBase + "compare: {baseline: base, metric: bits_per_parameter}\n",
     "study.yaml:5:35: bits_per_parameter is not measured in the task 'copy'; give the task "
     "another "
     "metric in compare.metrics"},
    {"ExpectingADivergenceFromText", kLanguage + "expect: ['base.divergence < 1']\n",
     "study.yaml:4:9: expect: divergence is not measured in the task 'language'"},
    {"ExpectingOfATestSetThatIsNotThere", kBase + "expect: ['base.exact_match[length 13] > 0']\n",
     "study.yaml:5:9: expect: the task 'copy' has no test set 'length 13'; did you mean 'length "
     "12'?"},
    {"ExpectingOfATextsTestSetThatIsNotThere",
     kHead + "base: {data: {task: text, train: [a.tsv], validation: [b.tsv], test: "
             "[d/flickr.en.gz, d/flickr.de.gz]}}\nexpect: ['base.bleu[flickr] > 0', "
             "'base.bleu[test] > 0']\n",
     "study.yaml:4:9: expect: the task 'text' has no test set 'test'; choose flickr"},
    {"ExpectingOnATestSetWhatIsOfTheRun", kBase + "expect: ['base.train_loss[length 12] > 0']\n",
     "study.yaml:5:9: expect: train_loss is not measured on test sets; leave out [length 12]"},
    {"TuningByTheTextThatTests", kLanguage + "tune: {keys: {training.schedule.peak: [0.1, 0.2]}}\n",
     "study.yaml:4:1: tune would choose values on the test text, since 'language' has no separate "
     "test text; name another file in data.test or, for running text, give data.test_held_out a "
     "share"},
    {"StoppingByTheTextThatTests",
     kLanguage + "arms: {a: {training: {evaluate_every: 5, patience: 2}}}\n",
     "study.yaml:4:52: training.patience would choose weights on the test text; name another file "
     "in data.test or, for running text, give data.test_held_out a share"},
    {"TuningWithATextHeldOut",
     kLanguage + "tasks: {t: {data.test_held_out: 0.1}}\ntune: {keys: {training.schedule.peak: "
                 "[0.1, 0.2]}}\n",
     ""},
    {"CostToNothing", kBase + "compare: {baseline: base, metric: steps_to_target}\n",
     "study.yaml:5:35: 'steps_to_target' needs compare.cost_to, which says what to reach"},
    {"CostToAnArm", kBase + "compare: {baseline: base, metric: loss, cost_to: base}\n",
     "study.yaml:5:50: compare.cost_to must be baseline or have one value to reach, such as "
     "{validation_perplexity: 5} or {validation_token_accuracy: 0.9}"},
    {"CostToAnotherMetric",
     kBase + "compare: {baseline: base, metric: loss, cost_to: {validation_perplexty: 5}}\n",
     "study.yaml:5:51: unknown metric 'validation_perplexty' in compare.cost_to; did you mean "
     "'validation_perplexity'?"},
    {"NoCostToASmallerPerplexity",
     kBase + "compare: {baseline: base, metric: loss, cost_to: {validation_perplexity: 0.5}}\n",
     "study.yaml:5:74: compare.cost_to.validation_perplexity must be a number from 1 on"},
    {"NoCostToALargerShare",
     kBase + "compare: {baseline: base, metric: loss, cost_to: {validation_token_accuracy: 2}}\n",
     "study.yaml:5:78: compare.cost_to.validation_token_accuracy must be between 0 and 1"},
    {"CostWithoutValidations",
     kTraining + "{evaluate_every: 5}\n"
                 "arms: {a: {}, b: {training.evaluate_every: 0}}\n"
                 "compare: {baseline: a, metric: bleu, cost_to: baseline}\n",
     "study.yaml:6:44: compare.cost_to needs validations during training; set "
     "training.evaluate_every, such as a tenth of the steps"},
    {"ExpectHoldsAnEmptyText", kBase + "expect: ['']\n",
     "study.yaml:5:9: expect holds an empty text"},
    {"ExpectIsAText", kBase + "expect: a wins\n",
     "study.yaml:5:9: expect must be a list; write [a wins]"},
    {"UnevenSteps",
     kBase + "arms: {a: {}, b: {training.steps: 7}}\ncompare: {baseline: a, metric: bleu}\n",
     "study.yaml:5:35: training.steps of the arm 'b' is not the baseline's; if that is intended, "
     "write compare: { allow: [steps] }"},
    {"UnevenStepsAreAllowedByName",
     kBase + "arms: {a: {}, b: {training.steps: 7}}\n"
             "compare: {baseline: a, metric: bleu, allow: [steps]}\n",
     ""},
    {"OtherData",
     kBase + "arms: {a: {}, b: {data.symbols: 7}}\ncompare: {baseline: a, metric: bleu}\n",
     "study.yaml:5:33: data.symbols of the arm 'b' is not the baseline's; if that is intended, "
     "write compare: { allow: [data] }"},
    {"OtherTokensComparedByToken",
     kBase + "arms: {a: {}, b: {tokenizer.kind: byte}}\ncompare: {baseline: a, metric: loss}\n",
     "study.yaml:6:32: loss is measured per token, and the arms 'a' and 'b' have different "
     "tokenizers (task 'copy'); use nats_per_character, bits_per_character or a score of the "
     "outputs"},
    {"OtherTokensComparedByCharacter",
     kBase + "arms: {a: {}, b: {tokenizer.kind: byte}, c: {tokenizer: {kind: bpe, dropout: 0.1}}}\n"
             "compare: {baseline: a, metric: nats_per_character}\n"
             "expect: [a.loss < 9, b.bleu > a.bleu, a.loss <= c.loss]\n",
     ""},
    {"OtherTokensExpectedToCostLess",
     kBase +
         "arms: {a: {}, b: {tokenizer.vocabulary: 16}}\nexpect: [b.perplexity < a.perplexity]\n",
     "study.yaml:6:9: perplexity is measured per token, and the arms 'b' and 'a' have different "
     "tokenizers (task 'copy'); use nats_per_character, bits_per_character or a score of the "
     "outputs"},
    {"TokenizersChosenByToken", kBase + "tune: {keys: {tokenizer.vocabulary: [16, 32]}}\n",
     "study.yaml:5:15: tokenizer.vocabulary cannot be tuned: values are chosen by perplexity or "
     "token accuracy, which are measured per token; make each value an arm and compare by "
     "nats_per_character"},
    {"UnknownAllowance", kBase + "compare: {baseline: base, metric: bleu, allow: [step]}\n",
     "study.yaml:5:49: unknown allow 'step' in compare; did you mean 'steps'?"},
    {"MetricOfAnUnknownTask",
     kBase + "compare: {baseline: base, metric: bleu, metrics: {cpy: chrff}}\n",
     "study.yaml:5:51: unknown task 'cpy' in compare.metrics; did you mean 'copy'?\n"
     "study.yaml:5:56: unknown metric 'chrff' in compare.metrics; did you mean 'chrf'?"},
    {"UnknownTestSet",
     kBase + "compare: {baseline: base, metric: bleu, test_sets: {copy: [length 13]}}\n",
     "study.yaml:5:60: unknown test set 'length 13' in compare.test_sets; did you mean 'length "
     "12'?"},
    {"TestSetsOfAnUnknownTask",
     kBase + "compare: {baseline: base, metric: bleu, test_sets: {cpy: [length 12]}}\n",
     "study.yaml:5:53: unknown task 'cpy' in compare.test_sets; did you mean 'copy'?"},
    {"TestSetsThatAreNoList",
     kBase + "compare: {baseline: base, metric: bleu, test_sets: {copy: length 12}}\n",
     "study.yaml:5:59: compare.test_sets.copy must list test sets, such as [length 12]"},
    {"TestSetsOfATaskWithOne",
     kHead + "base: {data: {task: facts}}\ncompare: {baseline: base, metric: bleu, test_sets: "
             "{facts: [facts]}}\n",
     "study.yaml:4:53: 'facts' has a single test set; leave it out of compare.test_sets"},
    {"MarginOfNothing", kBase + "compare: {baseline: base, metric: bleu, margin: 0}\n",
     "study.yaml:5:49: compare.margin must be positive"},
    {"EqualityWithoutMargin", kBase + "compare: {baseline: base, metric: bleu, claim: equal}\n",
     "study.yaml:5:48: a claim that an arm is equal needs a margin; add compare.margin, the "
     "smallest difference that matters"},
    {"NoLossOfAnArmWithoutMargin",
     kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu, arms: {b: {claim: "
             "noninferior}}}\n",
     "study.yaml:6:56: a claim that an arm is noninferior needs a margin; add "
     "compare.arms.b.margin, the smallest difference that matters"},
    {"ClaimOfAnUnknownArm",
     kBase + "arms: {a: {}, bee: {}}\ncompare: {baseline: a, metric: bleu, arms: {be: {claim: "
             "superior}}}\n",
     "study.yaml:6:45: unknown arm 'be' in compare.arms; did you mean 'bee'?"},
    {"ClaimOfTheBaseline",
     kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu, arms: {a: {claim: "
             "superior}}}\n",
     "study.yaml:6:45: 'a' is the baseline, so nothing is claimed of it; leave it out of "
     "compare.arms"},
    {"MarginOfTheWholeRange", kBase + "compare: {baseline: base, metric: exact_match, margin: 1}\n",
     "study.yaml:5:56: compare.margin is 1, but exact_match is between 0 and 1, so no difference "
     "is larger; give the smallest difference that matters"},
    {"MarginOfMoreThanTheRangeOfAnArm",
     kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu, margin: 99, arms: {b: "
             "{margin: 101}}}\n",
     "study.yaml:6:69: compare.arms.b.margin is 101, but bleu is between 0 and 100, so no "
     "difference is larger; give the smallest difference that matters"},
    {"MarginOfAMetricWithoutBound", kBase + "compare: {baseline: base, metric: loss, margin: 2}\n",
     ""},
    {"NothingIsSaidOfAnArm",
     kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu, arms: {b: {}}}\n",
     "study.yaml:6:45: compare.arms says nothing of 'b'; give it a claim or a margin, or leave it "
     "out"},
    {"ClaimByTheMarginOfAnotherMetric",
     kBase + "compare: {baseline: base, metric: bleu, metrics: {copy: exact_match}, claim: equal, "
             "margin: 0.1}\n",
     "study.yaml:5:78: the claim equal has a margin of bleu, but the task 'copy' is compared by "
     "exact_match; leave the claim out, or the task out of compare.metrics"},
    {"ClaimOfAnArmByTheMarginOfAnotherMetric",
     kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu, metrics: {copy: "
             "exact_match}, margin: 0.1, arms: {b: {claim: noninferior}}}\n",
     "study.yaml:6:99: the claim noninferior has a margin of bleu, but the task 'copy' is "
     "compared by exact_match; leave the claim out, or the task out of compare.metrics"},
    {"ClaimsThatAreNoMapping",
     kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu, arms: [b]}\n",
     "study.yaml:6:44: compare.arms must be a mapping of arms to their claims, such as { gelu: { "
     "claim: equal, margin: 0.01 } }"},
    {"ExpectNamesAnUnknownArm", kBase + "expect: ['copy: bse.bleu < 1']\n",
     "study.yaml:5:17: unknown arm 'bse' in expect; did you mean 'base'?"},
    {"ExpectNamesAnArmOfTheGrid",
     kBase + "grid: {model.layers: [2, 3]}\n"
             "expect: [layers=2.bleu < layers=4.bleu]\n",
     "study.yaml:6:26: unknown arm 'layers=4' in expect; did you mean 'layers=2'?"},
    {"ExpectNamesWhatOneArmDoesNotObserve",
     kBase + "arms:\n  a: {training.observe: {every: 9}}\n  b: {training.observe: {every: 9, "
             "quantities: "
             "[update_ratio]}}\n  c: {}\n"
             "expect: [a.active_neurons < b.active_neurons, c.update_ratio < b.update_ratio]\n",
     "study.yaml:9:9: expect: the arm 'b' does not observe active_neurons; see training.observe\n"
     "study.yaml:9:9: expect: the arm 'c' does not observe update_ratio; see training.observe"},
    {"ExpectNamesUpdatesOfAnArmThatIsNotTrained",
     kBase +
         "arms:\n  a: {training.observe: {every: 9}}\n  b: {training: {steps: 0, init_from: {arm: "
         "a}, observe: {every: 9}}}\n"
         "expect: [b.active_neurons < a.active_neurons, b.update_ratio < a.update_ratio]\n",
     "study.yaml:8:9: expect: the arm 'b' does not observe update_ratio; see training.observe"},
    {"ExpectNamesAnUnknownMetric", kBase + "expect: [base.blue < 1]\n",
     "study.yaml:5:15: unknown metric 'blue' in expect; did you mean 'bleu'?"},
    {"ExpectNamesAnUnknownTask", kBase + "expect: ['sort: base.bleu < 1']\n",
     "study.yaml:5:11: unknown task 'sort' in expect; choose copy"},
    {"ExpectLeavesTheTaskOut",
     kHead + "tasks: {copy: {data: {task: copy}}, sort: {data: {task: sort}}}\n"
             "expect: [base.bleu < 1]\n",
     "study.yaml:4:10: name the task: copy or sort"},
    {"ExpectWithoutComparison", kBase + "expect: [base.bleu]\n",
     "study.yaml:5:19: a comparison is missing here; write '[task:] arm.metric < 0.5 * "
     "arm.metric[test set]', with <, <=, >, >= or 'within 0.05 of'"},
    {"ExpectOfNumbersAlone", kBase + "expect: [1 < 2]\n",
     "study.yaml:5:10: the claim names no arm"},
    {"ExpectGoesOn", kBase + "expect: [base.bleu < 1 < 2]\n",
     "study.yaml:5:24: unexpected text after the claim"},
    {"ExpectOfNoNumber", kBase + "expect: [base.bleu within near of 2]\n",
     "study.yaml:5:27: 'near' is not a number"},
    {"GridOfAScalar", kBase + "grid: {model.layers: 2}\n",
     "study.yaml:5:22: grid 'model.layers' must be a list of values"},
    {"GridOfAnUnknownPath", kBase + "grid: {model.layer: [2]}\n",
     "study.yaml:5:14: unknown key 'layer' in model; did you mean 'layers'?"},
    {"GridTooLarge",
     kBase + "grid: {model.layers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], model.d_model: [8, 16, 24, "
             "32, 40, 48, 56, 64, 72, 80], training.steps: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}\n",
     "study.yaml:5:115: the grid makes more than 1000 combinations"},
    {"GridNamesTwoPointsAlike", kBase + "grid: {model.layers: [2, 2]}\n",
     "study.yaml:5:26: the grid names two points 'layers=2'"},
    {"SetUnknownPath",
     kBase,
     "--set:1:7: unknown key 'layer' in model; did you mean 'layers'?",
     {"model.layer=2"}},
    {"SetWithoutValue",
     kBase,
     "--set:1:1: 'model.layers' must be key.path=value",
     {"model.layers"}},
    {"SetEmptyValue",
     kBase,
     "--set:1:14: model.layers is empty; give an integer",
     {"model.layers="}},
    {"SetWrongType",
     kBase,
     "--set:2:15: model.d_model 'wide' is not an integer",
     {"model.layers=2", "model.d_model=wide"}},
    {"SetBreaksARule",
     kBase,
     "--set:1:15: model.dropout must be at least 0 and below 1",
     {"model.dropout=2"}},
    {"SetIsNoYaml",
     kBase,
     "--set:1:1: not valid YAML: end of map flow not found",
     {"model={layers: 2"}},
    {"SetTab", kBase, "--set:1:15: control character 0x07", {"model.layers=2\007"}},
};

INSTANTIATE_TEST_SUITE_P(Each, StudyMessages, testing::ValuesIn(kStudyCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ablate::config
