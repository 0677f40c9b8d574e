#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>

#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/explanation.h"
#include "tests/experiments/config/study_text.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

using nlohmann::json;

const std::filesystem::path kSource = ABLATE_SOURCE;

/// What a dotted path below `base` may hold.
json node(const std::string& path) { return json::parse(json_schema())["definitions"][path]; }

constexpr const char* kNeeds = "needs python3-jsonschema and python3-yaml: make setup-test";

bool can_validate() {
  return std::system("/usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null") == 0;
}

/// A line for each study that the schema refuses, by Debian's jsonschema.
std::string refused(const std::vector<std::filesystem::path>& studies) {
  const TemporaryFile schema(json_schema(), "schema.json");
  std::string command = "/usr/bin/python3 " ABLATE_SOURCE "/tests/experiments/config/validate.py " +
                        schema.path().string();
  for (const auto& study : studies) command += " " + study.string();
  return output_of(shell(command + " 2>&1"));
}

std::vector<std::filesystem::path> shipped() {
  std::vector<std::filesystem::path> files;
  for (const auto* folder : {"experiments/studies", "experiments/architectures"})
    for (const auto& entry : std::filesystem::directory_iterator(kSource / folder))
      files.push_back(entry.path());
  return files;
}

TEST(JsonSchema, AChoiceIsOneOfItsWordsOrNullIfItIsOptional) {
  EXPECT_EQ(node("model.norm.kind")["enum"], json({"layer", "rms", "batch", "tanh", "none"}));
  EXPECT_EQ(node("training.init_from.split")["enum"],
            json({"random", "clusters", "coactivation", nullptr}));
}

TEST(JsonSchema, EveryReferenceHasItsDefinitionAndThreeAreToOneLayer) {
  const auto schema = json::parse(json_schema());
  int references = 0, layers = 0;
  const auto leaves = schema.flatten();
  for (const auto& [path, value] : leaves.items()) {
    if (!path.ends_with("/$ref")) continue;
    ++references;
    const auto name = value.get<std::string>().substr(std::string("#/definitions/").size());
    EXPECT_TRUE(schema["definitions"].contains(name)) << name;
    layers += name == "layer" ? 1 : 0;
  }
  EXPECT_GT(references, 500);
  EXPECT_EQ(layers, 3);
}

TEST(JsonSchema, KindsAndWordsHaveTheirSentences) {
  const auto router = node("model.feed_forward.router");
  const auto& kinds = router["anyOf"][0]["anyOf"];
  const auto gshard = std::ranges::find_if(
      kinds, [](const json& kind) { return kind["properties"]["kind"]["const"] == "gshard"; });
  ASSERT_NE(gshard, kinds.end());
  EXPECT_TRUE(says((*gshard)["description"].get<std::string>(), "Lepikhin et al. 2020"));
  EXPECT_EQ(router["anyOf"][1]["enumDescriptions"][3], (*gshard)["description"]);
  EXPECT_EQ(node("model.norm.kind")["enumDescriptions"].size(),
            node("model.norm.kind")["enum"].size());
}

TEST(ConfigurationPage, NamesEveryKey) {
  const auto page = configuration_page();
  const auto schema = experiment_schema();
  for (const auto& path : all_paths(schema)) {
    const bool is_kind = node_at(schema, path) == nullptr;
    const auto key = path.find('.') == std::string::npos ? "## " + path
                     : is_kind                           ? last_key(path) + "` selects"
                                                         : "| `" + last_key(path) + "` |";
    EXPECT_TRUE(says(page, key)) << path;
  }
  EXPECT_TRUE(says(page, "| `dropout` | number at least 0 and below 1 | `0.1` |"));
  EXPECT_TRUE(says(page, "`task` selects the alternative and must be given."));
  EXPECT_TRUE(says(page, "\n- `kerple`: a trained, conditionally positive definite kernel"));
  EXPECT_TRUE(says(page, "| what a norm computes<br>`layer`: mean and variance"));
}

TEST(ShippedStudies, TellEditorsTheirSchemaInTheFirstLine) {
  for (const auto& study : shipped())
    EXPECT_TRUE(read_file(study).starts_with(
        "# yaml-language-server: $schema=../../docs/study.schema.json\n"))
        << study;
}

TEST(JsonSchema, AcceptsEveryShippedStudy) {
  if (!can_validate()) GTEST_SKIP() << kNeeds;
  EXPECT_EQ(refused(shipped()), "");
}

TEST(JsonSchema, SeedsAreAListOrTwoToBeCrossed) {
  const auto with = [](const std::string& seeds) {
    return "name: s\nbase: {data: {task: copy}}\nseeds: " + seeds + "\n";
  };
  const TemporaryFile crossed(with("{initialization: [1, 2], order: [3, 4]}"), "crossed.yaml");
  const TemporaryFile one(with("{initialization: [1, 2], order: [3]}"), "one.yaml");
  const TemporaryFile other(with("{initialization: [1, 2], dropout: [3, 4]}"), "other.yaml");
  if (!can_validate()) GTEST_SKIP() << kNeeds;
  const auto messages = refused({crossed.path(), one.path(), other.path()});
  EXPECT_EQ(std::ranges::count(messages, '\n'), 2) << messages;
  EXPECT_FALSE(says(messages, "crossed.yaml"));
}

TEST(JsonSchema, AcceptsWhatTheReaderAccepts) {
  const TemporaryFile study(
      kBase +
      "  model.layers: 2\n  model: {decoder: {attention.kind: none}}\n"
      "tasks: {copy: {data: {task: copy, symbols: 9}}}\n"
      "sizes: {s: {model.dropout: 0.2}, t: }\n"
      "arms:\n  a: {}\n  b:\n  c: {model: {residual: {per: layer}}}\n"
      "  d: {model.encoder: {residual: {per: layer}}, training.patience: 2, "
      "training.evaluate_every: 5}\n"
      "  e: {model: {changes: [{every: 2, side: encoder, attention: {scale.learned: true}}, {norm: "
      "{kind: rms}}]}, model.decoder.norm.kind: rms}\n"
      "grid:\n  model.d_model: [64, 128]\n"
      "  model.position: [{kind: learned}, {kind: learned, max_length: 90}]\n"
      "tune: {by: shared, keys: {training.schedule.peak: [1.0e-3, 0.5]}, seeds: [7], extend: 0}\n"
      "time: 2 minutes\n");
  EXPECT_NO_THROW(read_study(study.path()));
  if (!can_validate()) GTEST_SKIP() << kNeeds;
  EXPECT_EQ(refused({study.path()}), "");
}

TEST(JsonSchema, RefusesTypicalMistakesWhereverTheyStand) {
  const std::vector<std::string> mistakes = {
      "nmae: s\nseeds: [1]\n",
      "name: s\n",
      "name: s\nseeds: 1\n",
      kModel + "{d_modle: 8}\n",
      kModel + "{d_model: wide}\n",
      kModel + "{norm: {placement: behind}}\n",
      kBase + "  model.position.knd: learned\n",
      kBase + "  model.dropout: high\n",
      kModel + "{decoder: {layers: 3}}\n",
      kModel + "{decoder: {every: 3, norm: {kind: rms}}}\n",
      kModel + "{changes: [{evry: 3, norm: {kind: rms}}]}\n",
      kModel + "{changes: [{at: 3, norm: {kind: rms}}]}\n",
      kModel + "{changes: [{at: [3], norm: {kind: rsm}}]}\n",
      kModel + "{changes: [{at: [3], d_model: 8}]}\n",
      kBase + "  model.encoder.norm.knd: rms\n",
      kBase + "arms: {a: {model.position.kind: lerned}}\n",
      kBase + "arms: {a: {model: {layer: 1}}}\n",
      kBase + "arms: {a: 3}\n",
      kBase + "arms: {}\n",
      kBase + "arms: {a/b: {}}\n",
      kBase + "tasks: {t: {data: {task: copie}}}\n",
      kBase + "tasks: {t: {trainings.steps: 5}}\n",
      kBase + "sizes: {s: {model.layer: 1}}\n",
      kBase + "match: {parameters: half, by: model.layers}\n",
      kBase + "grid: {model.d_model: 8}\n",
      kBase + "grid: {model.d_modle: [8]}\n",
      kBase + "grid: {model.d_model: [wide]}\n",
      kBase + "tune: {keys: {training.ema: 3}}\n",
      kBase + "tune: {keys: {training.ema: []}}\n",
      kBase + "tune: {keys: {training.emma: [0.9]}}\n",
      kBase + "tune: {keys: {training.ema: [much]}}\n",
      kBase + "compare: {base: a}\n",
      kBase + "expect: a\n",
  };
  std::vector<std::unique_ptr<TemporaryFile>> files;
  std::vector<std::filesystem::path> paths;
  for (const auto& mistake : mistakes) {
    paths.push_back(files.emplace_back(std::make_unique<TemporaryFile>(mistake))->path());
    EXPECT_THROW(read_study(paths.back()), ConfigError) << mistake;
  }
  if (!can_validate()) GTEST_SKIP() << kNeeds;
  const auto messages = refused(paths);
  for (size_t i = 0; i < paths.size(); ++i)
    EXPECT_TRUE(says(messages, paths[i].string())) << mistakes[i];
}

}  // namespace
}  // namespace ablate::config
