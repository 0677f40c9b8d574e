#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

class ValueMessages : public testing::TestWithParam<MessageCase> {};

TEST_P(ValueMessages, AreVerbatim) {
  EXPECT_EQ(messages_of(GetParam().yaml, {.sets = GetParam().sets}), GetParam().messages);
}

const std::string kNoWidthRule =
    "study.yaml:5:35: model.parametrization.kind cannot be mup with sgd, soap or scale original, "
    "for whose steps no rule of the width is known; choose adam, adamw, lion, schedule_free, or "
    "muon or normuon with scale match_rms_adamw";

const std::vector<MessageCase> kValueCases = {
    {"MoreExamplesThanAnyMemoryHolds",
     kHead + "base: {data: {task: copy, examples: {train: 9000000000000}}}\n",
     "study.yaml:3:45: data.examples.train must be from 1 to 10000000"},
    {"MoreTokensThanAnyMemoryHolds", kTraining + "{tokens_per_batch: 9000000000000}\n",
     "study.yaml:5:32: training.tokens_per_batch must be from 1 to 100000000"},
    {"MoreStepsThanAnyoneWaitsFor", kTraining + "{steps: 9000000000000}\n",
     "study.yaml:5:21: training.steps must be from 1 to 1000000000"},
    {"ObservingBackwards", kTraining + "{observe: {every: -1}}\n",
     "study.yaml:5:31: training.observe.every must be at least 0"},
    {"ObservingSomethingNever", kTraining + "{observe: {quantities: [update_ratio]}}\n",
     "study.yaml:5:36: training.observe.quantities needs every or at"},
    {"ObservingStepsInDisorder", kTraining + "{observe: {at: [10, 1]}}\n",
     "study.yaml:5:28: training.observe.at must name its steps in order, each once"},
    {"ObservingBeforeTheFirstStepTwice", kTraining + "{observe: {at: [0, 1]}}\n",
     "study.yaml:5:28: training.observe.at must hold steps from 1 on; before the first there is an "
     "observation anyway"},
    {"ObservingAfterTheLastStep", kTraining + "{steps: 10, observe: {at: [1, 11]}}\n",
     "study.yaml:5:39: training.observe.at names a step after the last one, which steps gives"},
    {"ObservingNothing", kTraining + "{observe: {every: 9, quantities: []}}\n",
     "study.yaml:5:46: training.observe.quantities is empty; to observe nothing leave every and at "
     "out"},
    {"ObservingOneThingTwice",
     kTraining +
         "{observe: {every: 9, quantities: [update_ratio, attention_sink, update_ratio]}}\n",
     "study.yaml:5:46: training.observe.quantities names one quantity twice"},
    {"ObservingWhatThereIsNot",
     kTraining + "{observe: {every: 9, quantities: [attention_sinks]}}\n",
     "study.yaml:5:47: unknown quantities 'attention_sinks' in training.observe; did you mean "
     "'attention_sink'?"},
    {"ARowWithoutATokenToPredict", kTraining + "{length_warmup: {share: 0.5, shortest: 1}}\n",
     "study.yaml:5:37: training.length_warmup.share needs running text and model.family "
     "decoder_only: other targets have lengths of their own\n"
     "study.yaml:5:52: training.length_warmup.shortest must be from 2 to 65536"},
    {"SecondsOfUpdatesThatGrowInTwoWays",
     kModel + "{output: {kind: tokens, ahead: 2}}\n"
              "  training: {accumulate: 2, batch_warmup: 0.5, budget: {kind: seconds}, ahead: "
              "{curriculum: forward}}\n",
     "study.yaml:6:43: training.batch_warmup must be 0 with a budget of seconds and "
     "ahead.curriculum, which together have no mean time of an update"},
    {"PatienceWithAnAverageThatDoesNotChange",
     kTraining + "{patience: 2, average: 2, save_every: 10, evaluate_every: 15}\n",
     "study.yaml:5:24: training.patience needs with average an evaluate_every that is a multiple "
     "of "
     "save_every: between two checkpoints the average stays as it is"},
    {"PatienceWithAnAverageThatDoes",
     kTraining + "{patience: 2, average: 2, save_every: 10, evaluate_every: 20}\n", ""},
    {"ARateThatMovesEveryWeightByTwo", kTraining + "{schedule: {peak: 2}}\n",
     "study.yaml:5:31: training.schedule.peak must be at most 1: with this optimizer a step moves "
     "every weight by about as much; 0.001 is usual"},
    {"ThatRateIsOnesOwnBusinessWithPlainSteps",
     kTraining + "{schedule: {peak: 2}, optimizer: {kind: sgd}}\n", ""},
    {"UnknownKey", kModel + "{d_modle: 64}\n",
     "study.yaml:5:11: unknown key 'd_modle' in model; did you mean 'd_model'?"},
    {"UnknownKeyElsewhere", kTraining + "{dropout: 0.1}\n",
     "study.yaml:5:14: unknown key 'dropout' in training; did you mean tokenizer.dropout or "
     "model.dropout?"},
    {"UnknownKeyInSeveralPlaces", kModel + "{max_length: 5}\n",
     "study.yaml:5:11: unknown key 'max_length' in model; did you mean model.position.max_length, "
     "training.max_length or decoding.max_length?"},
    {"UnknownKeyOfAnotherKind", kModel + "{position: {kind: sinusoidal, max_length: 5}}\n",
     "study.yaml:5:40: unknown key 'max_length' in model.position; it belongs to kind learned"},
    {"UnknownKeyWithoutHint", kModel + "{attention: {zebra: 1}}\n",
     "study.yaml:5:23: unknown key 'zebra' in model.attention; the keys are kind, heads, "
     "d_k, d_v, key_value_heads, qk_norm, scale, score_function, window, sinks, softcap, gate, "
     "value_residual, value_embedding, exclusive, differential, forgetting, qkv_bias, output_bias"},
    {"UnknownTopKey", kBase + "seed: [1]\n",
     "study.yaml:5:1: unknown key 'seed'; did you mean 'seeds'?"},
    {"TopKeyThatBelongsToBase", kBase + "model: {d_model: 64}\n",
     "study.yaml:5:1: unknown key 'model'; did you mean base.model?"},
    {"DeepKeyAtTheTop", kBase + "dropout: 0.1\n",
     "study.yaml:5:1: unknown key 'dropout'; did you mean base.tokenizer.dropout or "
     "base.model.dropout?"},
    {"UnknownDataKeyOfAnotherTask", kHead + "base: {data: {task: copy, train: [a]}}\n",
     "study.yaml:3:27: unknown key 'train' in data; it belongs to task text, labelled, "
     "language or tokens"},
    {"UnknownKind", kModel + "{position: {kind: lerned}}\n",
     "study.yaml:5:28: unknown kind 'lerned' in model.position; did you mean 'learned'?"},
    {"UnknownKindWithoutHint", kModel + "{position: {kind: quantum}}\n",
     "study.yaml:5:28: unknown kind 'quantum' in model.position; choose none, sinusoidal, "
     "learned, rotary, alibi, t5, shaw, fire, transformer_xl, kerple, sandwich, cope or pope"},
    {"InterpolatedPositionsOfADecoder",
     kModel + "{position: {kind: learned, beyond: interpolate}}\n",
     "study.yaml:5:45: model.position.beyond cannot be interpolate in a decoder, which does not "
     "know how long its output will be"},
    {"TooLittleToTurn", kModel + "{d_model: 64, position: {kind: rotary, fraction: 0.1}}\n",
     "study.yaml:5:59: model.position.fraction must leave at least two dimensions of a head to "
     "turn"},
    {"UnknownTask", kHead + "base: {data: {task: coppy}}\n",
     "study.yaml:3:21: unknown task 'coppy' in data; did you mean 'copy'?"},
    {"MissingTask", kHead + "base: {model: {d_model: 64}}\n",
     "study.yaml:1:1: data.task is missing; choose copy, reverse, sort, duplicate, selective_copy, "
     "parity, modular_arithmetic, dyck, recall, depo, brevo, capo, mano, lano, "
     "facts, table, addition, "
     "numbers, text, labelled, "
     "language or tokens"},
    {"MissingTaskBesideOtherKeys", kHead + "base:\n  data: {symbols: 8}\n",
     "study.yaml:4:3: data.task is missing; choose copy, reverse, sort, duplicate, selective_copy, "
     "parity, modular_arithmetic, dyck, recall, depo, brevo, capo, mano, lano, "
     "facts, table, addition, "
     "numbers, text, labelled, "
     "language or tokens"},
    {"TooManyLevelsOfAGrammar",
     kHead + "base: {model: {family: decoder_only}, data: {task: lano, levels: 7}}\n",
     "study.yaml:3:66: data.levels must be from 1 to the grammar's, 6 of cfg3b and cfg3f and 7 of "
     "cfg3j and cfg3k"},
    {"MorePeopleThanNames", kHead + "base: {data: {task: capo, people: 60, names: [10, 10]}}\n",
     "study.yaml:3:46: data.names must make at least twice as many names as there are people"},
    {"AGrammarForAnEncoder",
     kHead + "base: {model: {family: encoder_only}, tokenizer: {mask: true}, data: {task: lano}}\n",
     "study.yaml:3:24: model.family must be decoder_only if data.task is language, tokens or lano, "
     "or for language encoder_only to predict masked tokens"},
    {"UnknownEnum", kModel + "{norm: {placement: poste}}\n",
     "study.yaml:5:29: unknown placement 'poste' in model.norm; did you mean 'post'?"},
    {"UnknownEnumWithoutHint", kModel + "{feed_forward: {activation: softplus}}\n",
     "study.yaml:5:38: unknown activation 'softplus' in model.feed_forward; choose relu, gelu, "
     "gelu_tanh, silu, relu2, sigmoid or identity"},
    {"UnknownBareKind", kModel + "{position: lerned}\n",
     "study.yaml:5:21: unknown kind 'lerned' in model.position; did you mean 'learned'?"},
    {"ListForVariant", kModel + "{position: [learned]}\n",
     "study.yaml:5:21: model.position must be a mapping, not a list"},
    {"ScalarForSection", kTraining + "5\n",
     "study.yaml:5:13: training must be a mapping, not a single value"},
    {"EmptySection", kBase + "  training:\n",
     "study.yaml:5:3: training is empty; give it keys or leave it out"},
    {"IntegerWithSuffix", kTraining + "{steps: 10k}\n",
     "study.yaml:5:21: training.steps '10k' is not an integer; write 10000"},
    {"IntegerWithUnderscores", kTraining + "{steps: 10_000}\n",
     "study.yaml:5:21: training.steps '10_000' is not an integer; write 10000"},
    {"IntegerInScientificNotation", kTraining + "{steps: 1.0e3}\n",
     "study.yaml:5:21: training.steps '1.0e3' is not an integer; write 1000"},
    {"IntegerWithFraction", kTraining + "{steps: 1.5}\n",
     "study.yaml:5:21: training.steps '1.5' is not an integer"},
    {"IntegerWithLeadingZeros", kTraining + "{steps: 010}\n",
     "study.yaml:5:21: training.steps '010' has leading zeros; write 10"},
    {"IntegerInHexadecimal", kTraining + "{steps: 0x10}\n",
     "study.yaml:5:21: training.steps '0x10' is not an integer"},
    {"IntegerTooLarge", kTraining + "{steps: 9223372036854775808}\n",
     "study.yaml:5:21: training.steps '9223372036854775808' is too large for an integer"},
    {"IntegerInQuotes", kTraining + "{steps: \"10\"}\n",
     "study.yaml:5:21: training.steps '10' is quoted text, not an integer"},
    {"IntegerIsWord", kTraining + "{steps: many}\n",
     "study.yaml:5:21: training.steps 'many' is not an integer"},
    {"IntegerIsEmpty", kTraining + "{steps: }\n",
     "study.yaml:5:14: training.steps is empty; give an integer"},
    {"IntegerIsList", kTraining + "{steps: [1]}\n",
     "study.yaml:5:21: training.steps must be an integer, not a list"},
    {"NumberOutOfRange", kTraining + "{max_grad_norm: 1e999}\n",
     "study.yaml:5:29: training.max_grad_norm '1e999' is out of the range of numbers"},
    {"NumberIsNotANumber", kTraining + "{max_grad_norm: .nan}\n",
     "study.yaml:5:29: training.max_grad_norm '.nan' is not finite"},
    {"NumberIsInfinite", kTraining + "{max_grad_norm: inf}\n",
     "study.yaml:5:29: training.max_grad_norm 'inf' is not finite"},
    {"NumberWithComma", kTraining + "{max_grad_norm: '0,5'}\n",
     "study.yaml:5:29: training.max_grad_norm '0,5' is quoted text, not a number"},
    {"NumberIsWord", kTraining + "{max_grad_norm: big}\n",
     "study.yaml:5:29: training.max_grad_norm 'big' is not a number"},
    {"NumberWithLeadingZeros", kTraining + "{max_grad_norm: 00.5}\n",
     "study.yaml:5:29: training.max_grad_norm '00.5' has leading zeros; write 0.5"},
    {"BooleanIsYes", kBase + "  tokenizer: {joint: yes}\n",
     "study.yaml:5:22: tokenizer.joint 'yes' is not true or false; write true"},
    {"BooleanIsOne", kBase + "  tokenizer: {joint: 1}\n",
     "study.yaml:5:22: tokenizer.joint '1' is not true or false"},
    {"BooleanIsCapitalised", kBase + "  tokenizer: {joint: False}\n",
     "study.yaml:5:22: tokenizer.joint 'False' is not true or false; write false"},
    {"ListIsScalar", kHead + "base: {data: {task: copy, test_length: 12}}\n",
     "study.yaml:3:40: data.test_length must be a list; write [12]"},
    {"ListOfTheWrongLength", kHead + "base: {data: {task: copy, train_length: [1]}}\n",
     "study.yaml:3:41: data.train_length must be a list of 2 values, not 1"},
    {"ListWithABadItem", kHead + "base: {data: {task: copy, test_length: [4, five]}}\n",
     "study.yaml:3:44: data.test_length 'five' is not an integer"},
    {"BrokenRule", kModel + "{dropout: 1.5}\n",
     "study.yaml:5:20: model.dropout must be at least 0 and below 1"},
    {"BrokenRuleOfNestedKey", kModel + "{d_model: 30, attention: {heads: 4}}\n",
     "study.yaml:5:43: model.attention.heads must divide d_model unless d_k and d_v are given"},
    {"BrokenRuleOfADefault", kTraining + "{tokens_per_batch: 100}\n",
     "study.yaml:5:3: training.max_length must not exceed tokens_per_batch"},
    {"BrokenRuleAcrossSections", kBase + "  tokenizer: {joint: false}\n",
     "study.yaml:5:22: tokenizer.joint must be true if model.tying shares the source embedding; "
     "target and none need no joint tokens"},
    {"SideThatTheFamilyLacks",
     kModel + "{family: encoder_only, decoder_layers: 2}\n  tokenizer: {mask: true}\n",
     "study.yaml:5:19: model.family cannot be encoder_only here: an encoder writes no text; "
     "data.task must be language or labelled\nstudy.yaml:5:49: model.decoder_layers has no effect: "
     "an encoder_only model has no decoder"},
    {"SchemeThatActsInAttentionWithoutAny",
     kModel + "{attention: {kind: lstm}, cross_attention: "
              "{kind: multi_head}, position: {kind: rotary}}\n",
     "study.yaml:5:90: model.position.kind acts inside multi_head or latent attention, which no "
     "layer with "
     "it has; choose none, sinusoidal or learned"},
    {"CrossAttentionLikeNoAttention", kModel + "{attention: {kind: none}}\n",
     "study.yaml:5:3: model.cross_attention.kind cannot be same if model.attention is not "
     "multi_head; choose multi_head or none"},
    {"HeadsOfASide", kModel + "{decoder: {attention: {kind: multi_head, heads: 7}}}\n",
     "study.yaml:5:58: model.decoder.attention.heads must divide d_model unless d_k and d_v are "
     "given"},
    {"KeyValueHeads", kModel + "{attention: {heads: 8, key_value_heads: 3}}\n",
     "study.yaml:5:50: model.attention.key_value_heads must divide heads"},
    {"CrossAttentionWithHeadsThatNoSideHas",
     kModel + "{attention: {heads: 7}, encoder: {attention: {kind: none}}, decoder: {attention: "
              "{kind: none}}}\n",
     "study.yaml:5:30: model.attention.heads must divide d_model unless d_k and d_v are given"},
    {"ARouterThatWouldLearnNothing", kModel + "{feed_forward: {kind: moe, active: 1}}\n",
     "study.yaml:5:11: model.feed_forward.router.renormalize must be false if active is 1: the "
     "only weight would always be 1, and the router would not learn"},
    {"ExpertsThatChooseWhatIsToCome",
     kModel + "{feed_forward: {kind: moe, router: {kind: expert_choice}}}\n",
     "study.yaml:5:52: model.feed_forward.router.kind cannot be expert_choice in a decoder: "
     "experts would choose among positions that are still to come"},
    {"ExpertsThatWaitForWhatIsToCome",
     kModel + "{feed_forward: {kind: moe, capacity: {kind: limited, evaluation: 1, keep: "
              "likeliest}}}\n",
     "study.yaml:5:84: model.feed_forward.capacity.keep must be first if a decoder limits the "
     "evaluation: a likelier position may still follow"},
    {"NumbersThatNothingReads",
     kModel + "{position: {kind: none}, position_ids: {kind: randomized}}\n",
     "study.yaml:5:56: model.position_ids.kind has no effect: the position scheme reads no "
     "position ids; choose consecutive"},
    {"MoreNumbersThanVectors",
     kModel + "{position: {kind: learned}, position_ids: {kind: randomized}}\n",
     "study.yaml:5:11: model.position.max_length must be at least model.position_ids.range"},
    {"HeadsOfADecoderThatLookBothWays",
     kModel + "{decoder: {position: {kind: alibi, encoder: two_sided}}}\n",
     "study.yaml:5:54: model.decoder.position.encoder cannot be two_sided in a decoder, whose "
     "heads "
     "all look to the left"},
    {"LabelsOfADecoder", kModel + "{output: {kind: label}, tying: none}\n",
     "study.yaml:5:26: model.output.kind can be label only in an encoder_only "
     "model\nstudy.yaml:5:26: model.output.kind must be label if data.task is labelled, and only "
     "then"},
    {"CrossAttentionOfADecoderAlone",
     kModel + "{family: decoder_only, cross_attention: {kind: none}}\n",
     "study.yaml:5:33: model.cross_attention has no effect: only an encoder_decoder model has "
     "cross-attention"},
    {"LearningRatesByWidthOfAnOptimizerWhoseStepsHaveAnySize",
     kModel + "{parametrization: {kind: mup}}\n  training: {optimizer: {kind: sgd}}\n",
     kNoWidthRule},
    {"LearningRatesByWidthOfAnOptimizerInBasesOfItsOwn",
     kModel + "{parametrization: {kind: mup}}\n  training: {optimizer: {kind: soap}}\n",
     kNoWidthRule},
    {"AnExponentialDecayToNothing", kTraining + "{schedule: {kind: stable, shape: exponential}}\n",
     "study.yaml:5:14: training.schedule.floor must be above 0 if shape is exponential"},
    {"ACurriculumWithoutHeads", kTraining + "{ahead: {curriculum: forward}}\n",
     "study.yaml:5:14: training.ahead has no effect without the further heads of "
     "model.output.ahead"},
    {"MoreGuessesThanHeads", kBase + "  model: {output: {ahead: 2}}\n  decoding: {draft: 3}\n",
     "study.yaml:6:21: decoding.draft must be at most model.output.ahead, the heads that guess"},
    {"ADraftOfABeam", kBase + "  model: {output: {ahead: 2}}\n  decoding: {draft: 2, beam: 4}\n",
     "study.yaml:6:21: decoding.draft must be 0 with a beam of several hypotheses: a draft "
     "continues one"},
    {"ADraftOfAState",
     kBase + "  model: {family: decoder_only, attention: {kind: lstm}, position: {kind: none}, "
             "output: {ahead: 2}}\n  decoding: {draft: 2}\n",
     "study.yaml:6:21: decoding.draft needs multi_head attention without forgetting, latent "
     "attention, or none, in every layer of the decoder, and no model.canon, model.ngrams or "
     "capacity of experts in evaluation: wrong guesses must be forgotten"},
    {"ShortRowsOfPairs", kTraining + "{length_warmup: {share: 0.5}}\n",
     "study.yaml:5:37: training.length_warmup.share needs running text and model.family "
     "decoder_only: other targets have lengths of their own"},
    {"ShortRowsForATime",
     kTraining + "{length_warmup: {share: 0.5}, budget: {kind: seconds, seconds: 9}}\n",
     "study.yaml:5:37: training.length_warmup.share must be 0 with a budget of seconds, whose "
     "updates all take the same time\nstudy.yaml:5:37: training.length_warmup.share needs running "
     "text and model.family decoder_only: other targets have lengths of their own"},
    {"ABoundOfScoresWithPadding", kTraining + "{qk_clip: 100}\n",
     "study.yaml:5:23: training.qk_clip needs running text and model.family decoder_only, whose "
     "rows have no padding, and in every layer latent attention, or multi_head without qk_norm and "
     "forgetting, whose position is not one that computes the attention itself"},
    {"ABoundOfScoresBesideFrozenWeights", kTraining + "{qk_clip: 100, freeze: [embedding]}\n",
     "study.yaml:5:23: training.qk_clip changes weights of every attention, so freeze and lora "
     "cannot keep any\nstudy.yaml:5:23: training.qk_clip needs running text and model.family "
     "decoder_only, whose rows have no padding, and in every layer latent attention, or multi_head "
     "without qk_norm and forgetting, whose position is not one that computes the attention "
     "itself"},
    {"AScheduleWithoutOne", kTraining + "{optimizer: {kind: schedule_free}}\n",
     "study.yaml:5:3: training.schedule.kind must be constant with optimizer schedule_free, whose "
     "average takes the place of a decay"},
    {"TwoAverages",
     kTraining + "{optimizer: {kind: schedule_free}, schedule: {kind: constant}, ema: 0.9}\n",
     "study.yaml:5:32: training.optimizer.kind cannot be schedule_free with ema or average: it "
     "averages the weights itself"},
    {"AnAverageBesideRunningMeans",
     kBase + "  model: {norm: {kind: batch}}\n  training: {optimizer: {kind: schedule_free}, "
             "schedule: {kind: constant}}\n",
     "study.yaml:6:32: training.optimizer.kind cannot be schedule_free with norm batch, whose "
     "running means are those of other weights than the ones that are evaluated"},
    {"DiffusionOfADecoder",
     kHead + "base: {data: {task: language, train: a, diffusion: true}, model: {family: "
             "decoder_only}}\n",
     "study.yaml:3:52: data.diffusion needs model.family encoder_only, which reads what stands on "
     "both sides of a mask"},
    {"ARateOfZero", kTraining + "{lr_multipliers: {output: 0}}\n",
     "study.yaml:5:39: training.lr_multipliers.output must be above 0 and at most 1000"},
    {"AVocabularyOfBytes", kBase + "  tokenizer: {kind: byte, vocabulary: 300}\n",
     "study.yaml:5:39: tokenizer.vocabulary must be absent if kind is byte: the vocabulary is the "
     "256 bytes and the special tokens"},
    {"BytesOfOtherText", kBase + "  tokenizer: {kind: byte, normalization: nfkc}\n",
     "study.yaml:5:42: tokenizer.normalization has no effect if kind is byte: bytes are not "
     "normalised"},
    {"DroppedMergesOfAnotherKind", kBase + "  tokenizer: {kind: unigram, dropout: 0.1}\n",
     "study.yaml:5:39: tokenizer.dropout must be 0 unless kind is bpe: it leaves out merges of "
     "bpe"},
    {"SeveralAtOnce", kModel + "{d_modle: 64, dropout: 2}\n  training: {steps: 10k}\n",
     "study.yaml:5:11: unknown key 'd_modle' in model; did you mean 'd_model'?\nstudy.yaml:5:33: "
     "model.dropout must be at least 0 and below 1\nstudy.yaml:6:21: training.steps '10k' is not "
     "an integer; "
     "write 10000"},
};

INSTANTIATE_TEST_SUITE_P(Each, ValueMessages, testing::ValuesIn(kValueCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ablate::config
