#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

class ModelMessages : public testing::TestWithParam<MessageCase> {};

TEST_P(ModelMessages, AreVerbatim) {
  EXPECT_EQ(messages_of(GetParam().yaml, {.sets = GetParam().sets}), GetParam().messages);
}

const std::vector<MessageCase> kModelCases = {
    {"SinksWithoutASoftmax", kModel + "{attention: {weights: sigmoid, sinks: true}}\n",
     "study.yaml:5:48: model.attention.sinks must be false where weights is not softmax, in which "
     "alone they take part"},
    {"WindowOfNothing", kModel + "{attention: {window: 0}}\n",
     "study.yaml:5:31: model.attention.window must be from 1 to 1048576"},
    {"WindowOverTheEncodersOutput", kModel + "{cross_attention: {kind: multi_head, window: 4}}\n",
     "study.yaml:5:55: model.cross_attention.window has no effect: targets and sources have no "
     "distance"},
    {"NegativeCap", kModel + "{attention: {cap: -1}}\n",
     "study.yaml:5:28: model.attention.cap must not be negative"},
    {"ScaleOfZero", kModel + "{attention: {scale: {value: 0}}}\n",
     "study.yaml:5:38: model.attention.scale.value must be positive and at most 1e6"},
    {"AlphaOfZero", kModel + "{norm: {kind: tanh, alpha: 0}}\n",
     "study.yaml:5:37: model.norm.alpha must be positive"},
    {"DroppedWithoutASkip", kModel + "{residual: {skip: false, drop: 0.1}}\n",
     "study.yaml:5:41: model.residual.drop must be 0 where residual.skip is false: nothing would "
     "be left of a sequence"},
    {"DeepNormOfASideWithItsNormBefore",
     kModel + "{norm: {placement: pre}, decoder: {residual: {depth: deepnorm}}}\n",
     "study.yaml:5:63: model.decoder.residual.depth can be deepnorm only where residual.skip is "
     "true and a norm is placed post"},
    {"ParallelWithNormsBehind", kModel + "{encoder: {block: parallel}}\n",
     "study.yaml:5:28: model.encoder.block can be parallel only where norm.placement is pre"},
    {"MoreDifferentLayersThanLayers", kModel + "{layers: 2, decoder: {share: {layers: 3}}}\n",
     "study.yaml:5:48: model.decoder.share.layers must not exceed the number of layers"},
    {"SharedLayersWithExperts",
     kModel + "{feed_forward: {kind: moe}, decoder: {share: {layers: 3}}}\n",
     "study.yaml:5:64: model.decoder.share.layers must be absent where the feed-forward is moe: "
     "the routers of shared layers cannot be told apart"},
    {"PatternOfOneMixer", kModel + "{other_attention: {kind: lstm}, pattern: [other]}\n",
     "study.yaml:5:51: model.pattern must have both attention and other, or be []"},
    {"PatternWithoutAnotherMixer", kModel + "{pattern: [attention, other]}\n",
     "study.yaml:5:3: model.other_attention.kind cannot be same where the pattern has other "
     "layers; choose what they have"},
    {"AnotherMixerWithoutAPattern", kModel + "{other_attention: {kind: lstm}}\n",
     "study.yaml:5:11: model.other_attention has no effect: no pattern has other layers with it; "
     "give a pattern such as [attention, other]"},
    {"AnotherMixerOfASideWithoutAPattern", kModel + "{decoder: {other_attention: {kind: lstm}}}\n",
     "study.yaml:5:21: model.decoder.other_attention has no effect: the side's pattern is []"},
    {"PatternThatNoSideReads",
     kModel + "{other_attention: {kind: lstm}, pattern: [attention, other], encoder: {pattern: "
              "[]}, decoder: {pattern: [other, attention]}}\n",
     "study.yaml:5:51: model.pattern has no effect: each side has a pattern of its own"},
    {"MixerThatNoPatternHas",
     kModel + "{other_attention: {kind: lstm}, pattern: [attention, lstm]}\n",
     "study.yaml:5:63: unknown pattern 'lstm' in model; choose attention or other"},
    {"PatternLongerThanTheStack",
     kModel + "{layers: 2, other_attention: {kind: lstm}, pattern: [attention, other, other]}\n",
     "study.yaml:5:62: model.pattern must not be longer than the stack has different layers"},
    {"HeadsThatOneSchemeCannotServe",
     kModel + "{position: {kind: rotary}, other_attention: {kind: multi_head, heads: 4}, pattern: "
              "[attention, other]}\n",
     "study.yaml:5:80: model.other_attention.heads must be those of attention, with the same d_k "
     "and d_v, where one position scheme acts inside both; choose them or other_position"},
    {"AddedPositionsOfOtherLayers",
     kModel + "{other_attention: {kind: multi_head, window: 8}, other_position: {kind: "
              "sinusoidal}, pattern: [attention, other]}\n",
     "study.yaml:5:82: model.other_position.kind must be none or act inside attention: what is "
     "added to embeddings is model.position, for all layers"},
    {"NoPositionsWhereSomeAreAdded",
     kModel + "{other_attention: {kind: multi_head, window: 8}, other_position: {kind: none}, "
              "pattern: [attention, other]}\n",
     "study.yaml:5:82: model.other_position.kind has no effect: the other layers read what "
     "model.position adds to embeddings, too"},
    {"PositionsOfLayersWithoutScores",
     kModel + "{other_attention: {kind: lstm}, other_position: {kind: alibi}, pattern: [attention, "
              "other]}\n",
     "study.yaml:5:65: model.other_position.kind has no effect: the other layers have no scores "
     "for it to act on"},
    {"OtherPositionsWithoutAPattern", kModel + "{other_position: {kind: rotary}}\n",
     "study.yaml:5:11: model.other_position has no effect: no pattern has other layers with it"},
    {"GatedDecayInAnEncoder", kModel + "{encoder: {attention: {kind: linear, decay: gated}}}\n",
     "study.yaml:5:54: model.encoder.attention.decay cannot be gated in an encoder: it forgets "
     "from "
     "left to right"},
    {"DeepNormOfNormalValues", kModel + "{initialization: {kind: normal, depth: deepnorm}}\n",
     "study.yaml:5:49: model.initialization.depth can be deepnorm only where kind is xavier, which "
     "DeepNorm's factors are for"},
    {"OutputsThatStartAtNothing", kModel + "{initialization: {output: 0}}\n",
     "study.yaml:5:36: model.initialization.output must be above 0 and at most 1000"},
    {"DeltaInAnEncodersPattern",
     kModel + "{other_attention: {kind: delta}, pattern: [attention, other]}\n",
     "study.yaml:5:35: model.other_attention.kind cannot be delta in an encoder: it writes from "
     "left to right"},
};

INSTANTIATE_TEST_SUITE_P(Each, ModelMessages, testing::ValuesIn(kModelCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ablate::config
