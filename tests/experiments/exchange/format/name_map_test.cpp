#include "experiments/exchange/format/name_map.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::exchange {
namespace {

Origins read(const std::string& yaml) {
  const TemporaryFile file(yaml, "names.yaml");
  return read_origins(file.path());
}

std::string messages(const std::string& yaml) {
  return messages_in(problems_of([&] { read(yaml); }), "");
}

TEST(NameMap, HoldsNamesListsAndTransposedTensors) {
  const auto origins = read(
      "a: x\n"
      "b: [x, y]\n"
      "c: {name: z, transpose: true}\n"
      "d: {name: [x, z], transpose: false}\n");
  EXPECT_EQ(origins.at("a").names, std::vector<std::string>{"x"});
  EXPECT_EQ(origins.at("b").names, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(origins.at("c").transpose);
  EXPECT_FALSE(origins.at("d").transpose);
  EXPECT_EQ(origins.at("d").names, (std::vector<std::string>{"x", "z"}));
}

TEST(NameMap, TakesTrueAndFalseInOneSpellingAlone) {
  EXPECT_EQ(messages("a: {name: x, transpose: True}\n"),
            "1:25: transpose 'True' is not true or false; write true");
  EXPECT_EQ(messages("a: {name: x, transpose: yes}\n"),
            "1:25: transpose 'yes' is not true or false; write true");
  EXPECT_EQ(messages("a: {name: x, transpose: 1}\n"), "1:25: transpose '1' is not true or false");
  EXPECT_EQ(messages("a: {name: x, transpose: 'true'}\n"),
            "1:25: transpose 'true' is quoted text, not true or false");
}

TEST(NameMap, RefusesKeysThatItDoesNotKnow) {
  EXPECT_EQ(messages("a: {name: x, transposed: true}\n"),
            "1:14: unknown key 'transposed'; did you mean 'transpose'?");
}

TEST(NameMap, ReportsEveryMistakeAtOnce) {
  EXPECT_EQ(messages("a: []\n"
                     "b: {transpose: true}\n"
                     "c: [x, [y]]\n"
                     "d:\n"
                     "e: {name: {x: y}}\n"),
            "1:4: must name at least one tensor\n"
            "2:4: needs 'name', of one tensor or of several in a list\n"
            "3:8: must be the name of a tensor\n"
            "4:1: must be the name of a tensor\n"
            "5:11: must be the name of a tensor");
}

TEST(FamilyMap, IsLaidOverThatOfAFamilyThatItIsLike) {
  const auto base = read_family_map("base",
                                    "prefix: a.\n"
                                    "model: { bias: false, attention: { heads: 4 } }\n"
                                    "tensors: { x: y }\n"
                                    "fields:\n"
                                    "  width: d_model\n"
                                    "  heads: { key: attention.heads, usual: 8 }\n"
                                    "  biased: { key: [bias, norm.bias], usual: null }\n");
  EXPECT_EQ(base.fields.at("width").usual, std::nullopt);
  EXPECT_EQ(base.fields.at("biased").usual, "null");
  EXPECT_EQ(base.fields.at("biased").keys, (std::vector<std::string>{"bias", "norm.bias"}));
  const auto map = read_family_map("map",
                                   "model: { attention: { qkv_bias: true } }\n"
                                   "fields: { heads: attention.heads }\n"
                                   "fixed: { biased: false }\n",
                                   base);
  EXPECT_EQ(map.prefix, "a.");
  EXPECT_TRUE(map.tensors.contains("x"));
  EXPECT_FALSE(map.model.bias);
  const auto& heads = std::get<models::MultiHead>(map.model.layer.attention);
  EXPECT_EQ(heads.heads, 4);
  EXPECT_EQ(heads.qkv_bias, true);
  EXPECT_EQ(map.fields.at("heads").usual, std::nullopt);
  EXPECT_TRUE(map.fields.contains("width"));
  EXPECT_FALSE(map.fields.contains("biased")) << "a field that is fixed";
}

}  // namespace
}  // namespace ablate::exchange
