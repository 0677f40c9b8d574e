#include "experiments/config/schema/layer_changes.h"

#include <gtest/gtest.h>

#include "experiments/config/schema/printer.h"
#include "tests/experiments/config/study_text.h"
#include "tests/models/variants.h"

namespace ablate::config {
namespace {

using models::Side;

/// `kModel` with `{layers: 6, <keys>}`.
std::string six_layers(const std::string& keys) { return kModel + "{layers: 6, " + keys + "}\n"; }

models::TransformerOptions model_of(const std::string& yaml, const std::string& arm = "base",
                                    const Selection& selection = {}) {
  return run_of(yaml, arm, selection).experiment.model;
}

/// The names of the mixers of a side's layers.
std::vector<std::string> mixers_of(const models::TransformerOptions& model, Side side) {
  std::vector<std::string> names;
  for (const auto& layer : models::stack_of(model, side).layers)
    names.emplace_back(std::visit([](const auto& held) { return held.name; }, layer.attention));
  return names;
}

/// The windows of a side's layers, 0: none.
std::vector<int64_t> windows_of(const models::TransformerOptions& model, Side side) {
  std::vector<int64_t> windows;
  for (const auto& layer : models::stack_of(model, side).layers)
    windows.push_back(std::get<models::MultiHead>(layer.attention).window.value_or(0));
  return windows;
}

using Windows = std::vector<int64_t>;

TEST(LayerChanges, AreOfEveryKthLayerFromTheKthOn) {
  const auto model = model_of(six_layers("changes: [{every: 2, attention: {window: 5}}]"));
  EXPECT_EQ(windows_of(model, Side::encoder), (Windows{0, 5, 0, 5, 0, 5}));
  EXPECT_EQ(windows_of(model, Side::decoder), (Windows{0, 5, 0, 5, 0, 5}));
}

TEST(LayerChanges, AreOfTheNumberedLayersOfASide) {
  const auto model =
      model_of(six_layers("changes: [{at: [1, 4], side: decoder, attention: {window: 5}}]"));
  EXPECT_EQ(windows_of(model, Side::encoder), (Windows{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(windows_of(model, Side::decoder), (Windows{5, 0, 0, 5, 0, 0}));
}

TEST(LayerChanges, LaterOnesWin) {
  const auto model =
      model_of(six_layers("attention: {window: 9}, changes: [{attention: {window: 2}}, {every: 3, "
                          "attention: {window: null}}, {at: [6], attention: {window: 4}}]"));
  EXPECT_EQ(windows_of(model, Side::decoder), (Windows{2, 2, 0, 2, 2, 4}));
}

TEST(LayerChanges, ASidesShortFormComesBeforeThem) {
  const auto model =
      model_of(six_layers("changes: [{at: [2], attention: {window: 7}}], decoder: {attention: "
                          "{window: 3}}"));
  EXPECT_EQ(windows_of(model, Side::encoder), (Windows{0, 7, 0, 0, 0, 0}));
  EXPECT_EQ(windows_of(model, Side::decoder), (Windows{3, 7, 3, 3, 3, 3}));
}

TEST(LayerChanges, LieOverWhatTheLastOverlaySaysOfTheModel) {
  const auto yaml = six_layers("attention: {heads: 4}, decoder: {attention: {window: 3}}") +
                    "arms:\n  base: {}\n"
                    "  wide: {model.attention.heads: 16, model.decoder.attention.softcap: 2}\n";
  const auto layer = models::stack_of(model_of(yaml, "wide"), Side::decoder).layers[5];
  const auto& heads = std::get<models::MultiHead>(layer.attention);
  EXPECT_EQ(heads.heads, 16) << "of the arm's model";
  EXPECT_EQ(heads.window, 3) << "of the base's decoder";
  EXPECT_EQ(heads.softcap, 2) << "of the arm's decoder";
  const auto set = model_of(yaml, "base", {.sets = {"model.decoder.attention.window=8"}});
  EXPECT_EQ(windows_of(set, Side::decoder), (Windows{8, 8, 8, 8, 8, 8}));
}

TEST(LayerChanges, AnArmReplacesTheWholeList) {
  const auto yaml = six_layers("changes: [{every: 2, attention: {window: 5}}]") +
                    "arms:\n  base: {}\n  none: {model.changes: []}\n"
                    "  one: {model: {changes: [{at: [1], attention.window: 2}]}}\n";
  EXPECT_TRUE(model_of(yaml, "none").encoder.empty());
  EXPECT_EQ(windows_of(model_of(yaml, "one"), Side::encoder), (Windows{2, 0, 0, 0, 0, 0}));
}

TEST(LayerChanges, AnotherKindKeepsWhatBothKindsKnow) {
  const auto model = model_of(six_layers(
      "attention: {heads: 2, window: 4}, feed_forward: {d_hidden: 96}, changes: [{every: 2, side: "
      "decoder, attention: {kind: delta}, feed_forward: {kind: moe, experts: 3}}]"));
  const auto stack = models::stack_of(model, Side::decoder);
  EXPECT_EQ(std::get<models::DeltaRule>(stack.layers[1].attention).heads, 2);
  EXPECT_EQ(std::get<models::MixtureOptions>(stack.layers[1].feed_forward).d_hidden, 96);
  EXPECT_EQ(std::get<models::MultiHead>(stack.layers[0].attention).window, 4);
}

TEST(LayerChanges, CountTheDifferentLayersOfSharedOnes) {
  const auto model = model_of(
      six_layers("share: {layers: 2}, changes: [{at: [2], attention: {kind: convolution}}]"));
  EXPECT_EQ(mixers_of(model, Side::encoder),
            (std::vector<std::string>{"multi_head", "convolution"}));
}

TEST(LayerChanges, ATunedKeyMayBeOfThem) {
  const auto study =
      study_of(six_layers("d_model: 64, decoder: {attention: {window: 3}}") +
               "tune: {by: shared, keys: {model.decoder.attention.window: [4, 8]}}\n");
  const auto& tuning = *study.tuning;
  const auto wide =
      candidate_of(tuning.arms[0], tuning, combinations(declared_axes(tuning))[1], study.file);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->name, "base-window=8");
  EXPECT_EQ(windows_of(wide->experiment.model, Side::decoder), (Windows{8, 8, 8, 8, 8, 8}));
}

/// The lines below `model` of a printed configuration that speak of layers of their own.
std::string printed(const std::string& yaml) {
  const auto text = to_yaml({.model = model_of(yaml)});
  const auto begin = std::min(text.find("  encoder:\n"),
                              std::min(text.find("  decoder:\n"), text.find("  changes:")));
  const auto end = text.find("training:\n");
  return begin == text.npos ? "" : text.substr(begin, end - begin);
}

TEST(PrintedLayers, AreTheShortFormsThatAStudyWouldGive) {
  EXPECT_EQ(printed(six_layers("changes: [{every: 2, attention: {window: 5}}]")),
            "  changes: [{every: 2, attention: {window: 5}}]\n");
  EXPECT_EQ(printed(six_layers("changes: [{at: [1, 4], side: decoder, block: parallel, norm: "
                               "{placement: pre}}]")),
            "  changes: [{at: [1, 4], side: decoder, norm: {placement: pre}, block: parallel}]\n");
  EXPECT_EQ(printed(six_layers("decoder: {attention: {kind: average}}, cross_attention: {kind: "
                               "none}, changes: [{at: [6], norm: {kind: rms}}]")),
            "  decoder:\n    attention:\n      kind: average\n"
            "  changes: [{at: [6], norm: {kind: rms}}]\n");
  EXPECT_EQ(printed(six_layers("changes: [{norm: {kind: layer}}]")), "")
      << "which is what the model says";
}

TEST(PrintedLayers, ComeBackWhateverTheyAre) {
  for (auto [name, options] : models::variants()) {
    options.position_ids = models::Consecutive{};  // other ids must fit the lengths of the data
    const Experiment experiment{.model = options};
    const TemporaryFile file(to_yaml(experiment), "config.yaml");
    const auto back = read_experiment(file.path());
    EXPECT_EQ(canonical(back), canonical(experiment)) << name;
    for (const auto side : {Side::encoder, Side::decoder}) {
      auto own = models::stack_of(options, side).layers;
      EXPECT_EQ(models::stack_of(back.model, side).layers, own) << name;
    }
  }
}

TEST(PrintedLayers, SayWhereAShortFormCameFrom) {
  const auto run = run_of(six_layers("decoder: {attention: {kind: average}}, cross_attention: "
                                     "{kind: none}"),
                          "base");
  EXPECT_EQ(run.origins.at("model.decoder.attention.kind"), "study.yaml:5");
}

}  // namespace
}  // namespace ablate::config
