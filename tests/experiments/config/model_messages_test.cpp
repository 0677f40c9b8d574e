#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

class ModelMessages : public testing::TestWithParam<MessageCase> {};

TEST_P(ModelMessages, AreVerbatim) {
  EXPECT_EQ(messages_of(GetParam().yaml, {.sets = GetParam().sets}), GetParam().messages);
}

const std::vector<MessageCase> kModelCases = {
    {"SinksWithoutASoftmax", kModel + "{attention: {score_function: sigmoid, sinks: true}}\n",
     "study.yaml:5:55: model.attention.sinks must be false unless score_function is softmax"},
    {"WindowOfNothing", kModel + "{attention: {window: 0}}\n",
     "study.yaml:5:31: model.attention.window must be from 1 to 1048576"},
    {"WindowOverTheEncodersOutput", kModel + "{cross_attention: {kind: multi_head, window: 4}}\n",
     "study.yaml:5:55: model.cross_attention.window has no effect: targets and sources have no "
     "distance"},
    {"NegativeCap", kModel + "{attention: {softcap: -1}}\n",
     "study.yaml:5:32: model.attention.softcap must be at least 0"},
    {"ScaleOfZero", kModel + "{attention: {scale: {value: 0}}}\n",
     "study.yaml:5:38: model.attention.scale.value must be above 0 and at most 1000000"},
    {"AlphaOfZero", kModel + "{norm: {kind: tanh, alpha: 0}}\n",
     "study.yaml:5:37: model.norm.alpha must be above 0"},
    {"DroppedWithoutASkip", kModel + "{residual: {skip: false, drop: 0.1}}\n",
     "study.yaml:5:41: model.residual.drop must be 0 if residual.skip is false: a skipped "
     "sequence would become zero"},
    {"DeepNormOfASideWithItsNormBefore",
     kModel + "{norm: {placement: pre}, decoder: {residual: {depth: deepnorm}}}\n",
     "study.yaml:5:63: model.decoder.residual.depth can be deepnorm only if residual.skip is "
     "true and a norm is placed post"},
    {"ParallelWithNormsBehind", kModel + "{encoder: {block: parallel}}\n",
     "study.yaml:5:28: model.encoder.block can be parallel only if norm.placement is pre"},
    {"MoreDifferentLayersThanLayers", kModel + "{decoder_layers: 2, share: {layers: 3}}\n",
     "study.yaml:5:46: model.share.layers must not exceed the number of layers"},
    {"RoundsWithoutSharedLayers", kModel + "{share: {fewest: 2}}\n",
     "study.yaml:5:27: model.share.fewest needs share.layers and the order cycle, whose rounds are "
     "drawn"},
    {"AnInjectionWithoutRounds", kModel + "{share: {layers: 2, order: sequence, inject: true}}\n",
     "study.yaml:5:55: model.share.inject needs share.layers and the order cycle, which has "
     "rounds"},
    {"APassThatEndsWithinARound", kModel + "{layers: 6, share: {layers: 2, fewest: 3}}\n",
     "study.yaml:5:49: model.share.fewest must be, as the number of layers, a multiple of "
     "share.layers, and not more than it"},
    {"FurtherHeadsOfAnEncoder",
     kModel + "{family: encoder_only, output: {kind: tokens, ahead: 2}}\n",
     "study.yaml:5:19: model.family cannot be encoder_only here: an encoder writes no text; "
     "data.task must be language or labelled\nstudy.yaml:5:63: model.output.ahead must be 0 in an "
     "encoder_only model, which writes no next token"},
    {"FurtherHeadsBesideASharedLayer",
     kModel + "{share: {layers: 2}, output: {kind: tokens, ahead: 2}}\n",
     "study.yaml:5:61: model.output.ahead needs layers with weights of their own, without "
     "share.layers"},
    {"FurtherHeadsWithExperts",
     kModel + "{feed_forward: {kind: moe}, output: {kind: tokens, ahead: 2}}\n",
     "study.yaml:5:68: model.output.ahead needs a last layer without experts, whose routing only "
     "layers report"},
    {"FurtherHeadsOfAMixedStream",
     kModel + "{residual_mix: {kind: dense}, output: {kind: tokens, ahead: 2}}\n",
     "study.yaml:5:70: model.output.ahead needs residual_mix none, since the others have weights "
     "for all depths"},
    {"SharedLayersWithExperts", kModel + "{feed_forward: {kind: moe}, share: {layers: 3}}\n",
     "study.yaml:5:54: model.share.layers must be absent if a feed-forward is moe: the routers of "
     "shared layers are one"},
    {"ValueEmbeddingsOverASource",
     kModel + "{cross_attention: {kind: multi_head, value_embedding: true}}\n",
     "study.yaml:5:64: model.cross_attention.value_embedding must be false: its values are those "
     "of the encoder's output, not of tokens"},
    {"LatentAttentionWithDistances",
     kModel + "{family: decoder_only, attention: {kind: latent}, position: {kind: shaw}}\n",
     "study.yaml:5:77: model.position.kind must be rotary, one that is added to embeddings or "
     "scores, or none, if attention is latent"},
    {"LatentHeadsThatDoNotDivideTheWidth",
     kModel + "{family: decoder_only, attention: {kind: latent, heads: 7}}\n",
     "study.yaml:5:66: model.attention.heads must divide d_model unless d_k and d_v are given"},
    {"Mamba2InAnEncoder", kModel + "{encoder: {attention: {kind: mamba2}}}\n",
     "study.yaml:5:39: model.encoder.attention.kind cannot be mamba2 in an encoder: it writes from "
     "left to right"},
    {"Mamba2HeadsThatDoNotDivideItsValues",
     kModel +
         "{family: decoder_only, attention: {kind: mamba2, heads: 7}, position: {kind: none}}\n",
     "study.yaml:5:66: model.attention.heads must divide expand times d_model"},
    {"GatedDecayInAnEncoder", kModel + "{encoder: {attention: {kind: linear, decay: gated}}}\n",
     "study.yaml:5:54: model.encoder.attention.decay can be only none or fixed in an "
     "encoder: the others forget from left to right"},
    {"CanonInAnotherOrder", kModel + "{canon: {places: [c, a]}}\n",
     "study.yaml:5:27: model.canon.places must have each place at most once, in the order a, b, c, "
     "d"},
    {"CanonWithoutQueries",
     kModel + "{decoder: {attention: {kind: lstm}}, canon: {places: [a, b]}}\n",
     "study.yaml:5:63: model.decoder.canon.places can have b only in a layer with queries, keys "
     "and "
     "values, whose attention is multi_head, linear or delta"},
    {"CanonWithoutAttention",
     kModel + "{attention: none, cross_attention: none, canon: {places: [a]}}\n",
     "study.yaml:5:67: model.canon.places cannot have a in a layer without attention"},
    {"CanonOfExperts", kModel + "{feed_forward: {kind: moe}, canon: {places: [c, d]}}\n",
     "study.yaml:5:54: model.canon.places can have d only in a layer whose feed-forward is dense"},
    {"CanonWithoutAFeedForward", kModel + "{feed_forward: none, canon: {places: [c]}}\n",
     "study.yaml:5:47: model.canon.places cannot have c in a layer without a feed-forward"},
    {"CanonAcrossDocuments",
     kHead + "base:\n  data: {task: tokens, train: a, validation: b, vocabulary: 9, end_token: 2, "
             "mask_documents: true}\n  model: {family: decoder_only, canon: {places: [a]}}\n",
     "study.yaml:4:94: data.mask_documents needs multi_head attention, or none, in every layer, "
     "and "
     "no model.canon: other mixers and short convolutions read on across documents"},
    {"DeepNormOfNormalValues", kModel + "{initialization: {kind: normal, depth: deepnorm}}\n",
     "study.yaml:5:49: model.initialization.depth can be deepnorm only if kind is xavier, which "
     "DeepNorm's factors are for"},
    {"OutputsThatStartAtNothing", kModel + "{initialization: {output: 0}}\n",
     "study.yaml:5:36: model.initialization.output must be above 0 and at most 1000"},
};

INSTANTIATE_TEST_SUITE_P(Each, ModelMessages, testing::ValuesIn(kModelCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ablate::config
