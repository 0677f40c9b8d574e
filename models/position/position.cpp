#include "models/position/position.h"

#include <cmath>
#include <string>

namespace ablate::models {
namespace {

class SinusoidalPosition : public Position {
 public:
  SinusoidalPosition(const Sinusoidal& options, int64_t d_model)
      : base_(options.base), d_model_(d_model) {}

  torch::Tensor embedding(const torch::Tensor& positions) override {
    const auto type = torch::TensorOptions(torch::kDouble).device(positions.device());
    const auto even = torch::arange(0, d_model_, 2, type);  // [ceil(D/2)]
    const auto rate = torch::exp(even * (-std::log(base_) / static_cast<double>(d_model_)));
    const auto angle = positions.to(torch::kDouble).unsqueeze(-1) * rate;         // [T, ceil(D/2)]
    const auto pairs = torch::stack({angle.sin(), angle.cos()}, -1).flatten(-2);  // [T, D or D+1]
    return pairs.narrow(-1, 0, d_model_);
  }

 private:
  double base_;
  int64_t d_model_;
};

class LearnedPosition : public Position {
 public:
  LearnedPosition(const Learned& options, int64_t d_model)
      : table_(register_parameter("table", torch::empty({options.max_length, d_model}))) {
    torch::NoGradGuard no_grad;
    table_.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(d_model)));
  }

  torch::Tensor embedding(const torch::Tensor& positions) override {
    return table_.index_select(0, positions);
  }
  void check(int64_t length) const override {
    if (length > table_.size(0))
      throw LengthError("a sequence of " + std::to_string(length) + " pieces is longer than the " +
                        std::to_string(table_.size(0)) +
                        " learned positions; raise model.position.max_length or shorten the input");
  }

 private:
  torch::Tensor table_;  // [max_length, D]
};

struct Maker {
  int64_t d_model;
  std::shared_ptr<Position> operator()(const NoPosition&) const {
    return std::make_shared<Position>();
  }
  std::shared_ptr<Position> operator()(const Sinusoidal& options) const {
    return std::make_shared<SinusoidalPosition>(options, d_model);
  }
  std::shared_ptr<Position> operator()(const Learned& options) const {
    return std::make_shared<LearnedPosition>(options, d_model);
  }
};

}  // namespace

torch::Tensor Position::embedding(const torch::Tensor&) { return {}; }
void Position::check(int64_t) const {}

std::shared_ptr<Position> make_position(const PositionOptions& options, int64_t d_model) {
  return std::visit(Maker{d_model}, options);
}

}  // namespace ablate::models
