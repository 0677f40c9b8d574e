#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/config/explanation.h"

namespace ablate::experiments {
namespace {

using nlohmann::json;

/// The node of a dotted path below `base`, in any alternative.
json node(const std::string& path) {
  json at = json::parse(json_schema())["properties"]["base"];
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    at = at["properties"][path.substr(begin, end - begin)];
    begin = end + 1;
  }
  return at;
}

TEST(JsonSchema, TrueAndFalseAreWordsAndBooleans) {
  EXPECT_EQ(node("model.residual")["enum"], json({"true", "false", "learned", true, false}));
  EXPECT_EQ(node("model.norm.kind")["enum"], json({"layer", "rms", "batch", "none"}));
}

TEST(JsonSchema, AnOptionalChoiceMayBeNull) {
  EXPECT_EQ(node("model.decoder.residual")["enum"],
            json({"true", "false", "learned", true, false, nullptr}));
  EXPECT_EQ(node("model.encoder.norm.kind")["enum"],
            json({"layer", "rms", "batch", "none", nullptr}));
}

}  // namespace
}  // namespace ablate::experiments
