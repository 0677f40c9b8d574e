#include "models/kernel/isa.h"
#include "models/kernel/packed_product.h"
#include "models/ops/cpu/backend.h"

namespace ablate::models::ops::cpu {
namespace {

// Overloads of the kernels for each element type.
int64_t packed_size(float, int64_t outputs, int64_t width) {
  return kernel::panels(outputs) * kernel::kPanel * width;
}
int64_t packed_size(kernel::Bfloat16, int64_t outputs, int64_t width) {
  return kernel::bf16_count(outputs, width);
}
const float* input_rows(float, const float* x, int64_t, int64_t) { return x; }
auto input_rows(kernel::Bfloat16, const float* x, int64_t rows, int64_t width) {
  return kernel::bf16_rows(x, rows, width);
}

/// A matrix in panels of element type T.
template <class T>
class Panels : public PackedMatrix {
 public:
  explicit Panels(const torch::Tensor& weight) : outputs_(weight.size(0)), width_(weight.size(1)) {
    const auto source = weight.to(torch::kCPU, torch::kFloat).contiguous();
    const auto size = packed_size(T{}, outputs_, width_) * static_cast<int64_t>(sizeof(T));
    panels_ = torch::empty({size}, torch::kByte);
    kernel::pack(source.const_data_ptr<float>(), outputs_, width_, pointer<T>(panels_));
  }

  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    auto shape = x.sizes().vec();
    shape.back() = outputs_;
    auto output = torch::empty(shape, x.options());
    const kernel::PackedProduct product{
        .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
        .output = output.mutable_data_ptr<float>(),
        .rows = x.numel() / width_,
        .width = width_,
        .outputs = outputs_};
    const auto rows = input_rows(T{}, x.const_data_ptr<float>(), product.rows, width_);
    const auto* weight = pointer<const T>(panels_);
    at::parallel_for(
        0, kernel::panels(outputs_), grain(product.rows * width_),
        [&](int64_t begin, int64_t end) { kernel::multiply(product, rows, weight, begin, end); });
    return output;
  }

 private:
  int64_t outputs_, width_;
  torch::Tensor panels_;
};

/// A matrix of bfloat16 numbers for processors without bfloat16 products.
class RoundedPanels : public PackedMatrix {
 public:
  explicit RoundedPanels(const torch::Tensor& weight) : panels_(to_bfloat16(weight)) {}
  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    return panels_.multiply(to_bfloat16(x), bias);
  }

 private:
  Panels<float> panels_;
};

}  // namespace

std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype) {
  if (kernel::isa() == kernel::Isa::any) return round(weight, dtype);
  const torch::NoGradGuard no_grad;
  switch (dtype) {
    case WeightDtype::fp32:
      return std::make_shared<Panels<float>>(weight);
    case WeightDtype::bf16:
      if (!kernel::has_bf16()) return std::make_shared<RoundedPanels>(weight);
      return std::make_shared<Panels<kernel::Bfloat16>>(weight);
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

}  // namespace ablate::models::ops::cpu
