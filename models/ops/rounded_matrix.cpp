#include "models/ops/packed_matrix.h"

namespace ablate::models::ops {
namespace {

constexpr double kInt8Max = 127;

/// Whole numbers up to kInt8Max, and what each row was divided by.
struct Int8Rows {
  torch::Tensor values, scale;  // [N, K], [N, 1]
};

Int8Rows to_int8(const torch::Tensor& x) {
  const auto scale = std::get<0>(x.abs().max(-1, /*keepdim=*/true)) / kInt8Max;
  const auto inverse = scale.reciprocal().masked_fill(scale.eq(0), 0.0);
  return {.values = (x * inverse).round(), .scale = scale};
}

class Bfloat16Matrix : public PackedMatrix {
 public:
  explicit Bfloat16Matrix(const torch::Tensor& weight) : weight_(to_bfloat16(weight)) {}
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    return torch::linear(to_bfloat16(x), weight_, bias);
  }

 private:
  torch::Tensor weight_;
};

class Int8Matrix : public PackedMatrix {
 public:
  explicit Int8Matrix(const torch::Tensor& weight) : weight_(to_int8(weight)) {}
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    const auto input = to_int8(x);
    const auto y = torch::linear(input.values, weight_.values) * input.scale * weight_.scale.t();
    return bias.defined() ? y + bias : y;
  }

 private:
  Int8Rows weight_;
};

}  // namespace

std::shared_ptr<const PackedMatrix> round(const torch::Tensor& weight, WeightDtype dtype) {
  const torch::NoGradGuard no_grad;
  const auto wide = weight.to(torch::kFloat);
  switch (dtype) {
    case WeightDtype::fp32:
      return nullptr;
    case WeightDtype::bf16:
      return std::make_shared<Bfloat16Matrix>(wide);
    case WeightDtype::int8:
      return std::make_shared<Int8Matrix>(wide);
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

}  // namespace ablate::models::ops
