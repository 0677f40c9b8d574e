#include <cmath>
#include <string>

#include "models/ops/positions.h"
#include "models/position/position.h"

namespace ablate::models {

torch::Tensor sinusoidal(const torch::Tensor& positions, const Sinusoidal& options, int64_t width) {
  const bool halves = options.layout == SinusoidalLayout::halves;
  const auto type = torch::TensorOptions(torch::kDouble).device(positions.device());
  const auto pair = torch::arange((width + 1) / 2, type);  // [ceil(D/2)]
  const double spread = options.frequencies == Frequencies::tensor2tensor
                            ? std::max(1.0, static_cast<double>((width + 1) / 2 - 1))
                            : static_cast<double>(width) / 2;
  const auto rate = torch::exp(pair * (-std::log(options.base) / spread));
  const auto angle = positions.to(torch::kDouble).unsqueeze(-1) * rate;  // [T, ceil(D/2)]
  const auto both = halves ? torch::cat({angle.sin(), angle.cos()}, -1)
                           : torch::stack({angle.sin(), angle.cos()}, -1).flatten(-2);
  return both.narrow(-1, 0, width);
}

namespace {

/// Sines and cosines computed for the positions asked for; there is no table to outgrow.
class SinusoidalPosition : public Position {
 public:
  SinusoidalPosition(const Sinusoidal& options, const PositionContext& context)
      : options_(options), d_model_(context.d_model), id_range_(context.id_range) {}
  torch::Tensor embedding(const torch::Tensor& positions, int64_t length) override {
    const auto compute = [&](const torch::Tensor& ids) {
      return sinusoidal(ids, options_, d_model_);
    };
    return table_.rows(positions, id_range_ == 0 ? length : id_range_, compute);
  }
  bool every_layer() const override { return options_.every_layer; }

 private:
  Sinusoidal options_;
  int64_t d_model_;
  int64_t id_range_;  // see PositionContext
  ops::KeptTable table_;
};

/// A trained table with one row for each position.
class LearnedPosition : public Position {
 public:
  LearnedPosition(const Learned& options, const PositionContext& context)
      : options_(options),
        table_(register_parameter("table", {options.max_length, context.d_model},
                                  Normal{options.deviation.value_or(context.embedding_deviation())},
                                  Role::embedding)) {}
  torch::Tensor embedding(const torch::Tensor& positions, int64_t) override {
    const int64_t last = table_.size(0) - 1;
    if (options_.beyond == Beyond::error) return table_.index_select(0, positions);
    if (options_.beyond == Beyond::clamp) return table_.index_select(0, positions.clamp_max(last));
    return interpolated(positions, positions.max());
  }
  torch::Tensor row_embedding(const torch::Tensor& positions,
                              const torch::Tensor& padding_mask) override {
    if (options_.beyond != Beyond::interpolate) return {};
    const auto end = padding_mask.sum(1).sub(1).clamp_min(0);  // [B]
    return interpolated(positions.unsqueeze(0), positions.index_select(0, end));
  }
  bool every_layer() const override { return options_.every_layer; }
  void check(int64_t length) const override {
    if (options_.beyond == Beyond::error && length > table_.size(0))
      throw LengthError("a sequence of " + std::to_string(length) + " tokens is longer than the " +
                        std::to_string(table_.size(0)) +
                        " learned positions; raise model.position.max_length or shorten the input");
  }

 private:
  /// The vectors of positions in a sequence whose last one is `longest`, which decides, so that an
  /// input that fits is left as it is. // [..., T], [...] -> [..., T, D]
  torch::Tensor interpolated(const torch::Tensor& positions, const torch::Tensor& longest) const {
    const int64_t last = table_.size(0) - 1;
    const auto scale = (last / longest.clamp_min(1).to(torch::kDouble)).clamp_max(1.0);
    const auto place =
        (positions * scale.unsqueeze(-1)).clamp_max(last);  // at padding the last row
    const auto below = place.floor();
    const auto share = (place - below).to(table_.scalar_type()).unsqueeze(-1);  // [..., T, 1]
    const auto left = below.to(torch::kLong);
    return torch::lerp(torch::embedding(table_, left),
                       torch::embedding(table_, (left + 1).clamp_max(last)), share);
  }

  Learned options_;
  torch::Tensor table_;  // [max_length, D]
};

}  // namespace

std::shared_ptr<Position> Sinusoidal::make(const PositionContext& context) const {
  return std::make_shared<SinusoidalPosition>(*this, context);
}
std::shared_ptr<Position> Learned::make(const PositionContext& context) const {
  return std::make_shared<LearnedPosition>(*this, context);
}

}  // namespace ablate::models
