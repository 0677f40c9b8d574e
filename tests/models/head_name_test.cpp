#include "models/head_name.h"

#include <gtest/gtest.h>

#include "models/transformer.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(HeadName, IsReadAsModulesAreCalled) {
  const auto own = parse_head("encoder.layers.0.attention.3");
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, (HeadName{{{Side::encoder, 0}, false}, 3}));
  EXPECT_EQ(*parse_head("decoder.layers.11.cross_attention.0"),
            (HeadName{{{Side::decoder, 11}, true}, 0}));
  EXPECT_EQ(*parse_layer("decoder.layers.2"), (LayerName{Side::decoder, 2}));
}

TEST(HeadName, InAnyOtherFormIsNone) {
  for (const auto* text :
       {"", "encoder", "encoder.layers.0.attention", "encoder.layers.0.attention.", "layers.0",
        "encoder.layers.0.attention.3.4", "encoder.layers.0.attention.x", "encoder.layers.0",
        "encoder.layers.-1.attention.0", "encoder.layers.0.attention.-1",
        "encoder.layers.00.attention.0", "encoder.layers.0.attention.+1",
        "encoder.layers.0.attention.99999999999999999999", "Encoder.layers.0.attention.0"})
    EXPECT_FALSE(parse_head(text)) << text;
  for (const auto* text : {"encoder.layers.", "encoder.layers.1.attention.0", "encoder.1", "1"})
    EXPECT_FALSE(parse_layer(text)) << text;
}

TEST(HeadName, HeadsAreCountedWhereThereAreSome) {
  auto options = tiny(
      "attention: {heads: 4, key_value_heads: 2}, encoder.attention: lstm, "
      "decoder.attention: {kind: delta, heads: 8}");
  EXPECT_EQ(head_count(options, {{Side::encoder, 0}, false}), 0);
  EXPECT_EQ(head_count(options, {{Side::decoder, 1}, false}), 8);
  EXPECT_EQ(head_count(options, {{Side::decoder, 1}, true}), 4);
  EXPECT_EQ(head_count(options, {{Side::encoder, 0}, true}), 0);
  EXPECT_EQ(head_count(options, {{Side::decoder, 2}, true}), 0) << "there are two layers";
  options.family = Family::decoder_only;
  EXPECT_EQ(head_count(options, {{Side::decoder, 0}, true}), 0);
}

std::vector<std::string> texts_of(const TransformerOptions& options) {
  std::vector<std::string> texts;
  for (const auto& name : attentions_of(options)) texts.push_back(text_of(name));
  return texts;
}

TEST(HeadName, AttentionsStandInTheOrderOfAPass) {
  const std::vector<std::string> expected{
      "decoder.layers.0.attention", "decoder.layers.0.cross_attention",
      "decoder.layers.1.attention", "decoder.layers.1.cross_attention",
      "decoder.layers.0.attention", "decoder.layers.0.cross_attention"};
  EXPECT_EQ(texts_of(tiny("decoder_layers: 3, share.layers: 2, encoder.attention: average, "
                          "cross_attention: {kind: multi_head, heads: 2}")),
            expected);
}

TEST(HeadName, EachLayerHasTheHeadsOfItsMixer) {
  const auto options = tiny(
      "family: decoder_only, layers: 3, attention.heads: 4, changes: [{at: [1, 3], attention: "
      "lstm}]");
  EXPECT_EQ(texts_of(options), std::vector<std::string>{"decoder.layers.1.attention"});
  EXPECT_EQ(head_count(options, {{Side::decoder, 1}, false}), 4);
  EXPECT_EQ(head_count(options, {{Side::decoder, 2}, false}), 0);
}

TEST(HeadName, AnObserverOfHeadsIsCalledForEachOfTheseAttentionsAndChangesNothingByItself) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}});
    const auto target = ids({{1, 4, 5}, {1, 6, 7}});
    const auto attentions = attentions_of(options);
    size_t calls = 0;
    Observer observer;
    observer.heads = [&](const torch::Tensor& heads) {
      EXPECT_LT(calls, attentions.size()) << name;
      const auto& at = attentions.at(calls++);
      const int64_t positions = at.layer.side == Side::encoder ? 5 : 3;
      EXPECT_EQ(heads.size(0), 2) << name;
      EXPECT_EQ(heads.size(1), positions) << name << ": " << text_of(at);
      EXPECT_EQ(heads.size(2), head_count(options, at)) << name << ": " << text_of(at);
      return heads;
    };
    const auto plain = model->hidden(source, target).hidden;
    const auto watched = model->hidden(source, target, {.observer = &observer}).hidden;
    EXPECT_TRUE(torch::equal(watched, plain)) << name;
    EXPECT_EQ(calls, attentions.size()) << name;
  }
}

}  // namespace
}  // namespace ablate::models
