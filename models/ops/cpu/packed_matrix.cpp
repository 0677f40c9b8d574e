#include "models/ops/cpu/packed_matrix.h"

#include "models/kernel/packed_product.h"
#include "models/ops/cpu/run.h"

namespace ablate::models::ops::cpu {
namespace {

int64_t packed_bytes(float, int64_t outputs, int64_t width) {
  return kernel::panels(outputs) * kernel::kPanel * width * 4;
}
int64_t packed_bytes(kernel::Bfloat16, int64_t outputs, int64_t width) {
  return kernel::panels(outputs) * kernel::kPanel * ((width + 1) / 2) * 4;
}
int64_t packed_bytes(int8_t, int64_t outputs, int64_t width) {
  return kernel::panels(outputs) * kernel::int8_panel_bytes(width);
}

/// Panels of kernel/packed_product.h in its element type T.
template <class T>
class Panels : public PackedMatrix {
 public:
  explicit Panels(const torch::Tensor& weight) : outputs_(weight.size(0)), width_(weight.size(1)) {
    const auto source = weight.to(torch::kCPU, torch::kFloat).contiguous();
    panels_ = torch::empty({packed_bytes(T{}, outputs_, width_)}, torch::kByte);
    kernel::pack(source.const_data_ptr<float>(), outputs_, width_, pointer<T>(panels_));
  }

  torch::Tensor multiply(const torch::Tensor& x, const torch::Tensor& bias) const override {
    auto shape = x.sizes().vec();
    shape.back() = outputs_;
    auto output = torch::empty(shape, x.options());
    const kernel::PackedProduct<T> product{
        .x = x.const_data_ptr<float>(),
        .weight = pointer<const T>(panels_),
        .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
        .output = output.mutable_data_ptr<float>(),
        .rows = x.numel() / width_,
        .width = width_,
        .outputs = outputs_};
    at::parallel_for(0, kernel::panels(outputs_), grain(product.rows * width_),
                     [&](int64_t begin, int64_t end) { kernel::multiply(product, begin, end); });
    return output;
  }

 private:
  int64_t outputs_, width_;
  torch::Tensor panels_;
};

}  // namespace

std::shared_ptr<const PackedMatrix> pack(const torch::Tensor& weight, WeightDtype dtype) {
  const torch::NoGradGuard no_grad;
  switch (dtype) {
    case WeightDtype::fp32:
      return std::make_shared<Panels<float>>(weight);
    case WeightDtype::bf16:
      return std::make_shared<Panels<kernel::Bfloat16>>(weight);
    case WeightDtype::int8:
      return std::make_shared<Panels<int8_t>>(weight);
  }
  TORCH_CHECK(false, "invalid WeightDtype ", static_cast<int>(dtype));
}

}  // namespace ablate::models::ops::cpu
