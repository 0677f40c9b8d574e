#include "models/ops/packed_matrix.h"

namespace ablate::models::ops {
namespace {

class Bfloat16Matrix : public PackedMatrix {
 public:
  explicit Bfloat16Matrix(const torch::Tensor& weight) : weight_(to_bfloat16(weight)) {}
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    return torch::linear(to_bfloat16(x), weight_, bias);
  }

 private:
  torch::Tensor weight_;
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
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

}  // namespace ablate::models::ops
