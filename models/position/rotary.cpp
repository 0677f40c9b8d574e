#include "models/position/rotary.h"

#include <cmath>
#include <numbers>

namespace ablate::models {
namespace {

struct Rates {
  std::vector<double> rates;
  double scale = 1.0;
};

/// Rates of `pairs` pairs under each kind of scaling.
struct Scaled {
  double base;
  int64_t pairs;

  std::vector<double> unscaled(double from) const {
    std::vector<double> rates;
    for (int64_t i = 0; i < pairs; ++i)
      rates.push_back(std::pow(from, -static_cast<double>(i) / static_cast<double>(pairs)));
    return rates;
  }
  Rates operator()(const NoScaling&) const { return {unscaled(base)}; }
  Rates operator()(const LinearScaling& scaling) const {
    auto rates = unscaled(base);
    for (auto& rate : rates) rate /= scaling.factor;
    return {rates};
  }
  Rates operator()(const NtkScaling& scaling) const {
    if (pairs == 1) return {unscaled(base)};  // the fastest angle is the only one
    const auto count = static_cast<double>(pairs);
    return {unscaled(base * std::pow(scaling.factor, count / (count - 1)))};
  }
  Rates operator()(const YarnScaling& scaling) const {
    auto rates = unscaled(base);
    const double first = std::max(0.0, std::floor(pair_of(scaling.fast, scaling.trained_length)));
    const double last = std::min(static_cast<double>(2 * pairs - 1),
                                 std::ceil(pair_of(scaling.slow, scaling.trained_length)));
    const double width = first == last ? 0.001 : last - first;
    for (size_t i = 0; i < rates.size(); ++i) {
      const double scaled = std::clamp((static_cast<double>(i) - first) / width, 0., 1.);
      rates[i] *= 1 - scaled + scaled / scaling.factor;
    }
    return {rates, 0.1 * std::log(scaling.factor) + 1.0};
  }
  Rates operator()(const Llama3Scaling& scaling) const {
    auto rates = unscaled(base);
    for (auto& rate : rates) {
      const double turns =
          static_cast<double>(scaling.trained_length) * rate / (2 * std::numbers::pi);
      const double kept = std::clamp((turns - scaling.low) / (scaling.high - scaling.low), 0., 1.);
      rate *= kept + (1 - kept) / scaling.factor;
    }
    return {rates};
  }

 private:
  /// The pair, counted as a real number, that turns so often within `length` positions.
  double pair_of(double turns, int64_t length) const {
    return static_cast<double>(pairs) *
           std::log(static_cast<double>(length) / (turns * 2 * std::numbers::pi)) / std::log(base);
  }
};

}  // namespace

RotaryPosition::RotaryPosition(const Rotary& options, int64_t d_k, int64_t id_range)
    : layout_(options.layout), id_range_(id_range) {
  const auto pairs = static_cast<int64_t>(options.fraction * static_cast<double>(d_k) / 2);
  TORCH_CHECK(pairs >= 1, "rotary positions need at least two dimensions to turn");
  auto [rates, scale] = std::visit(Scaled{options.base, pairs}, options.scaling);
  rates_ = std::move(rates);
  scale_ = scale;
}

ops::Rotation RotaryPosition::rotation(const torch::Tensor& positions, int64_t length) {
  const auto compute = [&](const torch::Tensor& ids) {
    const auto rate =
        torch::tensor(rates_, torch::TensorOptions(torch::kDouble).device(ids.device()));
    const auto angle = ids.to(torch::kDouble).unsqueeze(-1) * rate;        // [T, R]
    return torch::stack({angle.cos() * scale_, angle.sin() * scale_}, 1);  // [T, 2, R]
  };
  const auto both = table_.rows(positions, id_range_ == 0 ? length : id_range_, compute);
  return {.cosine = both.select(1, 0),
          .sine = both.select(1, 1),
          .interleaved = layout_ == RotaryLayout::interleaved};
}

std::shared_ptr<Position> Rotary::make(const PositionContext& context) const {
  return std::make_shared<RotaryPosition>(*this, context.d_k, context.id_range);
}

}  // namespace ablate::models
