#include <gtest/gtest.h>

#include <cmath>

#include "models/position/position.h"

namespace ablate::models {
namespace {

constexpr int64_t kHeads = 2, kQueries = 4, kKeys = 5, kWidth = 6, kValues = 3, kModel = 8;
constexpr int64_t kLayer = 1;
constexpr PositionContext kContext{.d_model = kModel,
                                   .heads = kHeads,
                                   .d_k = kWidth,
                                   .d_v = kValues,
                                   .layers = 2,
                                   .causal = false};

constexpr double kFactors[] = {1, 1.7};  // of scores by 1 / sqrt(K)

ops::ContentAttention example(double factor = 1) {
  torch::manual_seed(5);
  const auto type = torch::kDouble;
  auto visible = torch::ones({1, 1, kQueries, kKeys}, torch::kBool);
  visible[0][0][0][4] = false;
  visible[0][0][2][1] = false;
  return {.query = torch::randn({1, kHeads, kQueries, kWidth}, type),
          .key = torch::randn({1, kHeads, kKeys, kWidth}, type),
          .value = torch::randn({1, kHeads, kKeys, kValues}, type),
          .visible = visible,
          .query_positions = torch::arange(kQueries) + 1,
          .key_positions = torch::arange(kKeys),
          .layer = kLayer,
          .factor = {.fixed = factor}};
}

std::shared_ptr<Position> scheme(const PositionOptions& options) {
  torch::manual_seed(6);
  auto position = make_position(options, kContext);
  position->to(torch::kDouble);
  torch::NoGradGuard no_grad;
  for (auto& parameter : position->parameters()) parameter.normal_();
  return position;
}

/// One query's output, spelled out: `score(key)` over visible keys, then `value(key)` weighted.
template <class Score, class Value>
torch::Tensor one(const ops::ContentAttention& a, int64_t t, Score&& score, Value&& value) {
  double total = 0;
  auto output = torch::zeros({kValues}, torch::kDouble);
  for (int64_t s = 0; s < kKeys; ++s) {
    if (!a.visible[0][0][t][s].item<bool>()) continue;
    const double weight =
        std::exp(score(s) * a.factor.fixed / std::sqrt(static_cast<double>(kWidth)));
    total += weight;
    output += weight * value(s);
  }
  return output / total;
}

double product(const torch::Tensor& a, const torch::Tensor& b) { return a.dot(b).item<double>(); }

void expect_equal(const torch::Tensor& a, const torch::Tensor& b) {
  EXPECT_LT((a - b).abs().max().item<double>(), 1e-10) << a << b;
}

/// Expects every query's output: `score(h, t, key)` over visible keys, and their values.
template <class Score>
void expect_scores(Position& position, Score&& score, double factor = 1) {
  const auto a = example(factor);
  const auto output = position.attend(a);
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t t = 0; t < kQueries; ++t) {
      const auto expected = one(
          a, t, [&](int64_t s) { return score(h, t, s); },
          [&](int64_t s) { return a.value[0][h][s]; });
      expect_equal(output[0][h][t], expected);
    }
}

TEST(Shaw, IsTheFormulaOfThePaper) {
  torch::NoGradGuard no_grad;
  const auto a = example();
  const auto position = scheme(Shaw{.max_distance = 2});
  const auto p = position->named_parameters();
  const auto output = position->attend(a);
  for (int64_t h = 0; h < kHeads; ++h)
    for (int64_t t = 0; t < kQueries; ++t) {
      const auto row = [&](int64_t s) { return std::clamp<int64_t>(s - (t + 1), -2, 2) + 2; };
      const auto q = a.query[0][h][t];
      const auto expected = one(
          a, t, [&](int64_t s) { return product(q, a.key[0][h][s] + p["keys"][kLayer][row(s)]); },
          [&](int64_t s) { return a.value[0][h][s] + p["values"][kLayer][row(s)]; });
      expect_equal(output[0][h][t], expected);
    }
}

TEST(TransformerXl, IsTheFormulaOfThePaper) {
  torch::NoGradGuard no_grad;
  const auto a = example();
  const auto position = scheme(TransformerXl{});
  const auto p = position->named_parameters();
  const Sinusoidal halves{.layout = SinusoidalLayout::halves};
  const auto score = [&](int64_t h, int64_t t, int64_t s) {
    const auto q = a.query[0][h][t];
    const auto r = sinusoidal(torch::tensor({t + 1 - s}), halves, kModel)[0];
    return product(q + p["content_bias"][kLayer][h], a.key[0][h][s]) +
           product(q + p["distance_bias"][kLayer][h], p["projection"][kLayer][h].mv(r));
  };
  for (const double factor : kFactors) expect_scores(*position, score, factor);
}

TEST(Cope, CountsGatesBetweenQueryAndKey) {
  torch::NoGradGuard no_grad;
  const auto a = example();
  const auto position = scheme(Cope{.positions = 3});
  const auto table = position->named_parameters()["table"][kLayer];  // [K, positions]
  for (const double factor : kFactors) {
    const double scale = factor / std::sqrt(static_cast<double>(kWidth));
    const auto score = [&](int64_t h, int64_t t, int64_t s) {
      const auto q = a.query[0][h][t];
      double count = 0;
      for (int64_t k = std::min(s, t + 1); k <= std::max(s, t + 1); ++k)
        if (a.visible[0][0][t][k].item<bool>())
          count += 1 / (1 + std::exp(-product(q, a.key[0][h][k]) * scale));
      count = std::min(count, 2.0);
      const double low = std::floor(count), share = count - low;
      const auto at = [&](double place) {
        return product(q, table.select(1, static_cast<int64_t>(place)));
      };
      return product(q, a.key[0][h][s]) +
             (at(low) * (1 - share) + at(std::ceil(count)) * share) / scale;
    };
    expect_scores(*position, score, factor);
  }
}

TEST(Pope, TurnsLengthsByPositionsAlone) {
  torch::NoGradGuard no_grad;
  const auto a = example();
  const auto position = scheme(Pope{.base = 100});
  const auto shifts = position->named_parameters()["angle_bias"][kLayer];  // [H, K]
  expect_scores(*position, [&](int64_t h, int64_t t, int64_t s) {
    double sum = 0;
    for (int64_t c = 0; c < kWidth; ++c) {
      const auto length = [c](const torch::Tensor& x) {
        return std::log1p(std::exp(x[c].item<double>()));
      };
      const double rate = std::pow(100, -static_cast<double>(c) / kWidth);
      sum += length(a.query[0][h][t]) * length(a.key[0][h][s]) *
             std::cos(static_cast<double>(t + 1 - s) * rate - shifts[h][c].item<double>());
    }
    return sum;
  });
}

/// All gates are 1/2, so that key s is half of 600 - s away; bfloat16 has no 256.5.
TEST(Cope, CountsInFloatWhereTheModelComputesInBfloat16) {
  torch::NoGradGuard no_grad;
  const int64_t keys = 600;
  const auto type = torch::kBFloat16;
  const auto position = make_position(Cope{.positions = 301}, kContext);
  auto table = position->named_parameters()["table"];
  table.copy_((torch::arange(301).remainder(2) * 4).expand_as(table));  // 0, 4, 0, 4, ...
  const ops::ContentAttention a{
      .query = torch::ones({1, 1, 1, kWidth}, type),
      .key = torch::zeros({1, 1, keys, kWidth}, type),
      .value = torch::arange(2).repeat({keys / 2}).view({1, 1, keys, 1}).to(type),
      .visible = torch::ones({1, 1, 1, keys}, torch::kBool),
      .query_positions = torch::tensor({keys - 1}),
      .key_positions = torch::arange(keys),
      .layer = kLayer};
  // Scores repeat 0, 2 f, 4 f, 2 f with f = K^(1/2), and odd keys have those in the middle.
  const double whole = 1 + std::exp(4.0 * kWidth), half = 2 * std::exp(2.0 * kWidth);
  EXPECT_NEAR(position->attend(a).item<double>(), half / (half + whole), 1e-6);
}

TEST(ContentPosition, AQueryThatSeesNothingGivesZeros) {
  torch::NoGradGuard no_grad;
  auto a = example();
  a.visible.select(2, 3).fill_(false);
  for (const PositionOptions& options : {PositionOptions(Shaw{}), PositionOptions(TransformerXl{}),
                                         PositionOptions(Cope{}), PositionOptions(Pope{})})
    EXPECT_EQ(scheme(options)->attend(a).select(2, 3).abs().max().item<double>(), 0.0);
}

}  // namespace
}  // namespace ablate::models
