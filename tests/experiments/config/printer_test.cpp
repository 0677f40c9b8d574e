#include "experiments/config/schema/printer.h"

#include <gtest/gtest.h>

#include "experiments/config/schema/schema.h"
#include "experiments/config/study/explanation.h"
#include "tests/experiments/config/study_text.h"
#include "tests/models/variants.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

Experiment read_back(const Experiment& experiment) {
  const TemporaryFile file(to_yaml(experiment), "config.yaml");
  return read_experiment(file.path());
}

void expect_round_trip(const Experiment& experiment) {
  EXPECT_EQ(canonical(read_back(experiment)), canonical(experiment));
  EXPECT_TRUE(differences(read_back(experiment), experiment).empty());
}

template <class Variant, size_t... I>
std::vector<Variant> alternatives_of(std::index_sequence<I...>) {
  return {Variant(std::in_place_index<I>)...};
}

/// One value of each alternative of a variant.
template <class Variant>
std::vector<Variant> every() {
  return alternatives_of<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());
}

TEST(Printer, EveryAlternativeComesBack) {
  for (auto& one : every<data::DataOptions>()) {
    if (auto* text = std::get_if<data::Text>(&one))
      text->train = text->validation = text->test = {"a \"b\"\\\n\x01 ä: # {", "'"};
    models::TransformerOptions model;
    if (auto* labelled = std::get_if<data::Labelled>(&one)) {
      labelled->train = labelled->validation = labelled->test = "a.tsv";
      model = {.family = models::Family::encoder_only,
               .tying = models::Tying::none,
               .output = models::LabelHead{}};
    }
    if (data::is_running(one)) model.family = models::Family::decoder_only;
    if (auto* language = std::get_if<data::Language>(&one)) language->train = "a.txt";
    if (auto* tokens = std::get_if<data::Tokens>(&one)) {
      tokens->train = tokens->validation = "a.bin";
      tokens->vocabulary = 256;
    }
    expect_round_trip({.data = one, .model = model});
  }
  for (const auto& one : every<models::PositionOptions>())
    expect_round_trip({.model = {.layer = {.position = one}}});
  for (const auto& one : every<models::FeedForwardOptions>())
    expect_round_trip({.model = {.layer = {.feed_forward = one}}});
  for (const auto& one : every<models::PositionIdsOptions>())
    expect_round_trip({.model = {.position_ids = one}});
  for (const auto& one : every<models::RouterOptions>()) {
    models::TransformerOptions model;
    const bool alone = std::holds_alternative<models::SwitchRouter>(one);
    for (auto& layer : own_layers(model, models::Side::encoder))
      layer.feed_forward = models::MixtureOptions{.active = alone ? 1 : 2, .router = one};
    expect_round_trip({.model = model});
  }
  for (const auto& one : every<training::OptimizerOptions>())
    expect_round_trip({.training = {.optimizer = one, .schedule = training::Constant{}}});
  for (const auto& one : every<training::ScheduleOptions>())
    expect_round_trip({.training = {.schedule = one}});
  for (const auto& one : every<models::InitializationOptions>())
    expect_round_trip({.model = {.initialization = one}});
  for (const auto& one : every<models::ParametrizationOptions>())
    expect_round_trip({.model = {.parametrization = one}});
}

/// Each enumerator of a choice in turn stands for WORD in a base.
template <class Choice>
void expect_each(const std::string& keys, const std::string& data = "copy") {
  for (const auto& [value, word] : names(Choice())) {
    const auto text = kHead + "base: {data: " + data + ", " + replaced(keys, "WORD", word) + "}\n";
    SCOPED_TRACE(text);
    expect_round_trip(run_of(text, "base").experiment);
  }
}

TEST(Printer, EveryEnumeratorOfDataTokenizerAndTrainingComesBack) {
  expect_each<tokenizer::Kind>("tokenizer.kind: WORD");
  expect_each<tokenizer::Normalization>("tokenizer.normalization: WORD");
  expect_each<tokenizer::Spaces>("tokenizer.spaces: WORD");
  expect_each<data::BadLine>("data.bad_lines: WORD",
                             "{task: text, train: [a], validation: [b], test: [c]}");
  expect_each<training::Precision>("training.precision: WORD");
  expect_each<training::Device>("training.device: WORD");
  expect_each<training::MuonScale>("training.optimizer: {kind: muon, scale: WORD}");
  expect_each<training::DecayShape>(
      "training.schedule: {kind: stable, peak: 1, floor: 0.1, shape: WORD}");
  expect_each<training::NotFinite>("training.not_finite: WORD");
}

TEST(Printer, EveryEnumeratorOfAModelComesBack) {
  const std::string labelled = "{task: labelled, train: a, validation: b, test: c}";
  for (const std::string family : {"encoder_decoder", "decoder_only"})
    expect_round_trip({.model = models::tiny("family: " + family)});
  expect_round_trip(run_of(kHead +
                               "base: {data: {task: language, train: text}, tokenizer.mask: true, "
                               "model.family: encoder_only}\n",
                           "base")
                        .experiment);
  expect_each<models::NormKind>("model.norm.kind: WORD");
  expect_each<models::NormPlacement>("model.norm.placement: WORD");
  expect_each<models::FactorPer>("model.residual.per: WORD");
  expect_each<models::ResidualDepth>("model.residual.depth: WORD");
  expect_each<models::Block>("model: {norm.placement: pre, block: WORD}");
  expect_each<models::CanonPlace>("model.canon: {places: [WORD], width: 3}");
  expect_each<models::ShareOrder>("model.share: {layers: 2, order: WORD}");
  expect_each<models::Pool>("model.output: {kind: label, pool: WORD}", labelled);
  expect_each<models::DepthScaling>("model.initialization: {depth: WORD, output: 2}");
  expect_each<models::Tying>("model.tying: WORD");
}

TEST(Printer, EveryEnumeratorOfAModelsPartsComesBack) {
  expect_each<models::Activation>("model.feed_forward.activation: WORD");
  expect_each<models::QkNorm>("model.attention: {qk_norm: WORD, scale.value: 0.5, window: 7}");
  expect_each<models::ScoreFunction>("model.attention.score_function: WORD");
  expect_each<models::OutputGate>("model.attention.gate: WORD");
  expect_each<models::Match>("model.feed_forward: {kind: moe, match: WORD}");
  expect_each<models::Keep>(
      "model.feed_forward: {kind: moe, capacity: {kind: limited, keep: WORD}}");
  expect_each<models::SinusoidalLayout>("model.position.layout: WORD");
  expect_each<models::Beyond>("model.encoder.position: {kind: learned, beyond: WORD}");
  expect_each<models::RotaryLayout>("model.position: {kind: rotary, layout: WORD}");
  expect_each<models::Sides>("model.position: {kind: alibi, encoder: WORD}");
  expect_each<models::KerpleKernel>("model.position: {kind: kerple, kernel: WORD}");
}

TEST(Printer, DoublesComeBackBitForBit) {
  for (const double number :
       {0.1, 1.0 / 3.0, 1e-300, 5e-324, 0.30000000000000004, 1e22, 123456.0}) {
    Experiment experiment;
    experiment.training.clips.norm.most = number;
    EXPECT_EQ(read_back(experiment).training.clips.norm.most, number);
  }
}

TEST(Printer, OptionalAndListValuesComeBack) {
  Experiment experiment;
  experiment.training.threads = 3;
  experiment.model.layer.attention = models::MultiHead{.d_k = 16};
  experiment.data = data::Sort{{.train_length = {2, 5}, .test_length = {5, 9, 13}}};
  const auto back = read_back(experiment);
  EXPECT_EQ(back.training.threads, 3);
  EXPECT_EQ(std::get<models::MultiHead>(back.model.layer.attention).d_k, 16);
  EXPECT_FALSE(std::get<models::MultiHead>(back.model.layer.attention).d_v.has_value());
  EXPECT_EQ(std::get<data::Sort>(back.data).test_length, (std::vector<int64_t>{5, 9, 13}));
}

TEST(Printer, OriginsFollowAsComments) {
  const auto run = run_of(kBase, "base", {.sets = {"model.layers=2"}});
  const auto text = to_yaml(run.experiment, run.origins);
  EXPECT_TRUE(says(text, "  task: copy                                      # study.yaml:4\n"));
  EXPECT_TRUE(says(text, "  layers: 2                                       # --set\n"));
  EXPECT_TRUE(says(text, "  d_model: 512                                    # default\n"));
  const TemporaryFile file(text);
  EXPECT_EQ(canonical(read_experiment(file.path())), canonical(run.experiment));
}

TEST(Printer, ReadingReportsEveryProblem) {
  const TemporaryFile file("data: {task: copy}\nmodel: {layers: 0}\ntraining: {step: 1}\n");
  const auto problems = problems_of([&] { read_experiment(file.path()); });
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].message, "model.layers must be from 1 to 1000");
  EXPECT_EQ(problems[1].message, "unknown key 'step' in training; did you mean 'steps'?");
}

TEST(Printer, DifferencesNameThePathAndBothSides) {
  Experiment left, right;
  right.model.layers = 3;
  right.model.layer.position = models::Learned{};
  EXPECT_EQ(differences(left, right),
            (std::vector<Difference>{{"model.layers", "6", "3"},
                                     {"model.position.kind", "sinusoidal", "learned"},
                                     {"model.position.base", "10000", ""},
                                     {"model.position.layout", "interleaved", ""},
                                     {"model.position.frequencies", "paper", ""},
                                     {"model.position.max_length", "", "512"},
                                     {"model.position.deviation", "", "null"},
                                     {"model.position.beyond", "", "error"}}));
  EXPECT_TRUE(differences(left, left).empty());
}

TEST(Explanation, EveryPathIsExplained) {
  for (const auto& path : all_paths(experiment_schema()))
    EXPECT_TRUE(explanation(path).starts_with(path + ": ")) << path;
}

TEST(Explanation, KindsOfASectionHaveTheirSentencesAndKeysTheirBoundsAndDefaults) {
  const auto router = explanation("model.feed_forward.router");
  EXPECT_TRUE(says(router,
                   "  kind: gshard          the likeliest two experts, the second at random by its "
                   "weight in training (Lepikhin et al. 2020, arXiv 2006.16668)\n"))
      << router;
  const auto ids = explanation("model.position_ids");
  EXPECT_TRUE(says(ids, "    range                 ")) << ids;
  EXPECT_TRUE(says(ids, "; default 2048]\n")) << ids;
  EXPECT_TRUE(says(explanation("model.norm"), "    rms             a position's channels"));
}

TEST(Explanation, NoNameTouchesItsSentence) {
  for (const auto& path : all_paths(experiment_schema())) {
    const auto* node = node_at(experiment_schema(), path);
    if (node == nullptr || node->type != Schema::Type::variant) continue;  // null for a kind
    for (const auto& kind : node->children)
      EXPECT_TRUE(says(explanation(path), ": " + kind.name + "  ")) << path;
  }
}

TEST(Explanation, OtherWordsFindTheKeysThatSayThem) {
  const auto found = explanation("mixture of experts");
  EXPECT_TRUE(found.starts_with("model.feed_forward.kind: moe\n    a mixture of experts: "))
      << found;
  EXPECT_TRUE(says(explanation("swish"), "model.feed_forward.activation: silu\n"));
  EXPECT_TRUE(says(explanation("cautious"), "training.optimizer.cautious_decay\n"));
}

TEST(Explanation, ANameFindsWhatHasItAlone) {
  EXPECT_TRUE(explanation("muon").starts_with("training.optimizer.kind: muon\n"));
  EXPECT_FALSE(says(explanation("muon"), "normuon"));
  const auto both = explanation("length_ratio");
  EXPECT_TRUE(both.starts_with("length_ratio: ") && says(both, "data.filter.length_ratio\n"))
      << both;
  EXPECT_EQ(explanation("bleu").find("\n    "), std::string::npos) << "no key has this name";
}

}  // namespace
}  // namespace ablate::config
