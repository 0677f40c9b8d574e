#include "models/torchscript/torchscript.h"

#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "models/inference/search.h"
#include "tests/folder.h"
#include "tests/models/flops.h"
#include "tests/models/inference/small_model.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"

namespace ablate::models {
namespace {

struct Case {
  torch::Tensor source, target;
};

/// Sources and targets shorter and longer than the traced three and four tokens; rows of one length
/// for decoders alone.
std::vector<Case> cases(Family family) {
  std::vector<Case> all;
  torch::manual_seed(3);
  for (const int64_t length : {1, 2, 9}) {
    auto source = torch::randint(3, 20, {4, length}), target = torch::randint(3, 20, {4, 6});
    if (length < 9) target = target.repeat({1, 3}).slice(1, 0, length == 1 ? 1 : 17);
    source.select(1, length - 1).fill_(2);
    if (family == Family::encoder_decoder && length > 2) {
      source.slice(1, 2).slice(0, 1, 2).fill_(kPad);
      source.slice(1, 5).slice(0, 3, 4).fill_(kPad);
    }
    all.push_back({source, target});
  }
  return all;
}

void expect_equal_logits(Transformer& model, torch::jit::Module& module, const Case& one) {
  const bool pair = model->family() == Family::encoder_decoder;
  const auto logits =
      pair ? module.forward({one.source, one.target}) : module.forward({one.source});
  EXPECT_LT(largest_difference(logits.toTensor(),
                               model->forward(one.source, pair ? one.target : one.source)),
            1e-5 * std::max(1.0, logits.toTensor().abs().max().item<double>()));
}

std::vector<int64_t> without_padding(const torch::Tensor& row) {
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < row.size(0) && row[i].item<int64_t>() != kPad; ++i)
    ids.push_back(row[i].item<int64_t>());
  return ids;
}

void expect_equal_search(Transformer& model, torch::jit::Module& module, const Case& one,
                         int64_t beams) {
  constexpr double kPenalty = 0.7, kRatio = 1.5;
  constexpr int64_t kLongest = 12;
  const auto expected = search(
      InferenceModel(model), {.source = one.source, .tokens = kTokens},
      {.beam = beams, .length_penalty = kPenalty, .max_length = kLongest, .max_ratio = kRatio});
  const auto found =
      beams == 1 ? module.get_method("greedy")({one.source, kLongest, kRatio, kPenalty})
                 : module.get_method("beam")({one.source, beams, kPenalty, kLongest, kRatio});
  const auto& parts = found.toTupleRef().elements();
  // A score is a sum of a dozen logits, each rounded by its size.
  const auto logits = model->forward(one.source, one.target).abs().max().item<double>();
  for (size_t row = 0; row < expected.size(); ++row) {
    const auto at = static_cast<int64_t>(row);
    EXPECT_EQ(without_padding(parts[0].toTensor()[at]), expected[row].ids) << "beam " << beams;
    EXPECT_NEAR(parts[1].toTensor()[at].item<double>(), expected[row].score, 1e-4 + 1e-5 * logits);
  }
}

void expect_equal(Transformer& model, torch::jit::Module module) {
  for (const auto& one : cases(model->family())) {
    expect_equal_logits(model, module, one);
    if (model->family() == Family::encoder_only) continue;
    for (const int64_t beams : {1, 4}) expect_equal_search(model, module, one, beams);
  }
}

/// Encoders with a label head, and with the routers that no family writes with or that need
/// `ablate moefy`.
std::vector<Variant> encoder_variants() {
  std::vector<Variant> all;
  for (const auto& [pool, name] : names(Pool{})) {
    const std::string word(name);
    all.emplace_back("label of " + word,
                     tiny("output: {kind: label, pool: " + word + "}, tying: none"));
  }
  for (const std::string router : {"noisy", "expert_choice", "oracle", "similarity", "network"})
    all.emplace_back(
        "experts, " + router,
        tiny("feed_forward: {kind: moe, experts: 3, active: 1, d_hidden: 16, router: " + router +
             "}"));
  return all;
}

/// Whether its layers differ in nothing but their weights.
bool has_like_layers(const TransformerOptions& options) {
  return options.encoder.empty() && options.decoder.empty() && !options.share.layers;
}

/// Every variant, the same as a language model but for activations and the like, every kind of
/// position ids and of experts in the other families, and every position scheme in every family,
/// with experts in one of the two that are no variants. Those other families have one layer where
/// all are alike; the variants have two.
std::vector<Variant> all_modules() {
  auto all = variants();
  const auto add = [&](Variant variant, Family family) {
    variant.first += ", family " + std::to_string(static_cast<int>(family));
    variant.second.family = family;
    if (has_like_layers(variant.second)) variant.second.layers = 1;
    all.push_back(std::move(variant));
  };
  for (const auto* group : {"mixers", "canon", "attention", "attention_changes", "hybrids",
                            "layers", "norms", "residuals", "streams", "ngrams"})
    for (const auto& variant : variants(group)) add(variant, Family::decoder_only);
  for (const auto& variant : encoder_variants()) add(variant, Family::encoder_only);
  for (const auto family : {Family::decoder_only, Family::encoder_only}) {
    for (const auto* group : {"position_ids", "mixtures"})
      for (const auto& variant : variants(group)) add(variant, family);
    const auto& schemes = variants("positions");
    for (size_t i = 0; i < schemes.size(); ++i) {
      auto [name, options] = schemes[i];
      if ((i % 2 == 0) == (family == Family::decoder_only))
        options.layer.feed_forward = MixtureOptions{.experts = 4, .d_hidden = 12};
      add({name, options}, family);
    }
  }
  return all;
}

/// Floating-point operations as PyTorch counts them, which are those of hidden keys, too.
double counted_flops(TransformerOptions options, const Case& one) {
  for (const auto side : {Side::encoder, Side::decoder})
    change_layers(options, side, [](auto& layer) {
      if (auto* heads = std::get_if<MultiHead>(&layer.attention)) heads->window.reset();
    });
  const bool pair = options.family == Family::encoder_decoder;
  return forward_flops(options, {20, 20, kPad},
                       {.rows = one.source.size(0),
                        .source = one.source.size(1),
                        .target = (pair ? one.target : one.source).size(1)});
}

/// Whether it computes as many products as their count says. Experts compute all, where they are so
/// small that one product is faster, and fewer, where a limit drops some or no noise is added.
/// PyTorch computes keys and values of the encoder's output once for all rounds of a layer.
bool computes_what_counts(const TransformerOptions& options) {
  if (options.share.layers && options.family == Family::encoder_decoder) return false;
  const auto* mixture = std::get_if<MixtureOptions>(&options.layer.feed_forward);
  if (mixture == nullptr) return true;
  const auto* limited = std::get_if<LimitedCapacity>(&mixture->capacity);
  return mixture->d_hidden != 2 && (limited == nullptr || !limited->evaluation) &&
         !std::holds_alternative<NoisyRouter>(mixture->router);
}

/// The module with inputs, the model's outputs and their cost as buffers, for
/// check_torchscript.py.
void save_with_expected(Transformer& model, const std::string& file) {
  auto module = to_torchscript(model, kTokens);
  const auto one = cases(model->family()).back();
  const bool pair = model->family() == Family::encoder_decoder;
  torch::jit::Module expected(c10::QualifiedName("__torch__.ablate.Expected"),
                              module._ivalue()->compilation_unit(), true);
  expected.register_buffer("source", one.source);
  if (pair) expected.register_buffer("target", one.target);
  if (computes_what_counts(model->options()))
    expected.register_buffer("flops", torch::tensor(counted_flops(model->options(), one)));
  expected.register_buffer("logits", model->forward(one.source, pair ? one.target : one.source));
  if (model->family() != Family::encoder_only)
    for (const int64_t beams : {1, 4}) {
      const auto found = search(InferenceModel(model), {.source = one.source, .tokens = kTokens},
                                {.beam = beams,
                                 .length_penalty = beams == 1 ? 1.0 : 0.7,
                                 .max_length = 12,
                                 .max_ratio = 1.5});
      size_t longest = 0;
      for (const auto& row : found) longest = std::max(longest, row.ids.size());
      std::vector<std::vector<int64_t>> rows;
      for (const auto& row : found) {
        rows.push_back(row.ids);
        rows.back().resize(longest, kPad);
      }
      expected.register_buffer(beams == 1 ? "greedy" : "beam",
                               longest == 0 ? torch::empty({4, 0}, torch::kLong) : ids(rows));
    }
  module.register_module("expected", expected);
  module.save(file);
}

TEST(TorchScript, NoOutputHasAnUnwrittenToken) {
  auto model = make({.d_model = 16});
  const auto one = cases(model->family()).back();
  SearchInput input{.source = one.source, .tokens = kTokens};
  const SearchOptions options{.max_length = 12};
  std::vector<int64_t> unwritten;
  for (const auto& row : search(InferenceModel(model), input, options))
    if (unwritten.empty() && !row.ids.empty()) unwritten.push_back(row.ids.front());
  ASSERT_FALSE(unwritten.empty());
  input.unwritten = unwritten;
  const auto expected = search(InferenceModel(model), input, options);
  auto module = to_torchscript(model, kTokens, unwritten);
  const auto found = module.get_method("greedy")({one.source, options.max_length}).toTuple();
  for (size_t row = 0; row < expected.size(); ++row) {
    const auto ids = without_padding(found->elements()[0].toTensor()[static_cast<int64_t>(row)]);
    EXPECT_EQ(ids, expected[row].ids);
    EXPECT_EQ(std::ranges::count(ids, unwritten.front()), 0);
  }
}

TEST(TorchScript, TheLoopsHaveTheDefaultsOfTheSearch) {
  auto model = make({.d_model = 16});
  const auto module = to_torchscript(model, kTokens);
  const auto fallback = [&](const std::string& method, const std::string& argument) {
    const auto& schema = module.get_method(method).function().getSchema();
    const auto index = static_cast<size_t>(*schema.argumentIndexWithName(argument));
    return schema.arguments().at(index).default_value().value();
  };
  const SearchOptions search;
  for (const auto* method : {"greedy", "sample", "beam"}) {
    EXPECT_EQ(fallback(method, "max_length").toInt(), search.max_length);
    EXPECT_EQ(fallback(method, "max_ratio").toDouble(), search.max_ratio);
  }
  for (const auto* method : {"greedy", "beam"})
    EXPECT_EQ(fallback(method, "length_penalty").toDouble(), search.length_penalty);
  const RandomSampling sampling;
  EXPECT_EQ(fallback("sample", "temperature").toDouble(), sampling.temperature);
  EXPECT_EQ(fallback("sample", "top_k").toInt(), sampling.top_k);
  EXPECT_EQ(fallback("sample", "top_p").toDouble(), sampling.top_p);
}

/// What a method of the module says of these inputs; empty: it takes them.
std::string refusal(const torch::jit::Module& module, const std::string& method,
                    torch::jit::Stack inputs) {
  return refusal_of<std::exception>([&] { module.get_method(method)(std::move(inputs)); });
}

TEST(TorchScript, RefusesASequenceBeyondTheLearnedPositionsWithASentence) {
  const torch::NoGradGuard no_grad;
  constexpr std::string_view kSentence =
      "a sequence of 6 tokens is longer than the 5 positions that this model has";
  const auto fits = torch::full({2, 5}, 4), longer = torch::full({2, 6}, 4);
  auto options = tiny("position: {kind: learned, max_length: 5}");
  change_layers(options, Side::encoder, [](auto& layer) { layer.position = Sinusoidal{}; });
  auto writer = make(options);
  const auto pair = to_torchscript(writer, kTokens);
  EXPECT_EQ(refusal(pair, "forward", {longer, fits}), "");
  EXPECT_TRUE(says(refusal(pair, "forward", {fits, longer}), kSentence));
  auto state = pair.get_method("begin")({longer}).toTuple()->elements()[1];
  for (int64_t length = 2; length <= 5; ++length)
    state = pair.get_method("step")({fits.select(1, 0), state}).toTuple()->elements()[1];
  EXPECT_TRUE(says(refusal(pair, "step", {fits.select(1, 0), state}), kSentence));
  EXPECT_EQ(refusal(pair, "greedy", {longer}), "");

  options = tiny();
  options.layer.position = Learned{.max_length = 5};
  for (const auto family : {Family::encoder_only, Family::decoder_only}) {
    options.family = family;
    auto model = make(options);
    const auto module = to_torchscript(model, kTokens);
    EXPECT_EQ(refusal(module, "forward", {fits}), "");
    EXPECT_TRUE(says(refusal(module, "forward", {longer}), kSentence));
    if (family == Family::encoder_only)
      EXPECT_TRUE(says(refusal(module, "encode", {longer}), kSentence));
    else
      EXPECT_TRUE(says(refusal(module, "beam", {fits}), kSentence))
          << "the start token is the sixth";
  }
}

TEST(TorchScript, TheLoopsNameTheStepWhereScoresAreNotNumbers) {
  const torch::NoGradGuard no_grad;
  auto model = make({.d_model = 16});
  model->parameters()[0].fill_(NAN);
  auto module = to_torchscript(model, kTokens);
  for (const auto* method : {"greedy", "beam", "sample"}) {
    EXPECT_TRUE(says(refusal_of<std::exception>([&] {
                       module.get_method(method)({torch::tensor({{3, 4, 2}}, torch::kLong)});
                     }),
                     "the model's scores are not numbers at step 1"))
        << method;
  }
}

TEST(TorchScript, OfAllTemperaturesTheLowestDrawTheLikeliest) {
  const torch::NoGradGuard no_grad;
  auto model = moved({.d_model = 16});
  auto module = to_torchscript(model, kTokens);
  const auto source = torch::tensor({{3, 4, 2}, {5, 6, 2}}, torch::kLong);
  const auto drawn = module.get_method("sample")({source, 1e-60}).toTupleRef().elements()[0];
  const auto greedy = module.get_method("greedy")({source}).toTupleRef().elements()[0];
  EXPECT_TRUE(torch::equal(drawn.toTensor(), greedy.toTensor()));
}

// Here LibTorch runs the graphs as they are, and PyTorch optimises them.
TEST(TorchScript, OfEveryVariantGivesTheModelsLogitsAndSearchesFromCppAndFromPython) {
  torch::NoGradGuard no_grad;
  const torch::jit::GraphOptimizerEnabledGuard as_they_are(false);
  const Folder own;
  const auto& folder = own.path;
  size_t count = 0;
  for (const auto& [name, options] : all_modules()) {
    SCOPED_TRACE(name);
    auto model = moved(options);
    const auto file = (folder / (std::to_string(count++) + ".pt")).string();
    save_with_expected(model, file);
    expect_equal(model, torch::jit::load(file));
  }
  const std::string python = std::string(ABLATE_SOURCE) + "/.venv/bin/python";
  if (!std::filesystem::exists(python) ||
      std::system((python + " -c 'import torch' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no PyTorch in .venv to read the modules with";
  EXPECT_EQ(std::system((python + " " + ABLATE_SOURCE "/tests/models/check_torchscript.py " +
                         folder.string())
                            .c_str()),
            0);
}

}  // namespace
}  // namespace ablate::models
