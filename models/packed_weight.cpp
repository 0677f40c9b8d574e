#include "models/packed_weight.h"

#include "models/kernel/packed_product.h"
#include "models/kernel/run.h"

namespace ablate::models {
namespace {

/// Elements of a packed matrix; rows of bfloat16 are even.
int64_t packed_size(int64_t outputs, int64_t width) {
  return kernel::panels(outputs) * kernel::kPanel * ((width + 1) / 2 * 2);
}

}  // namespace

PackedWeight::PackedWeight(const torch::Tensor& weight, ProductType type)
    : type_(type), outputs_(weight.size(0)), width_(weight.size(1)) {
  const torch::NoGradGuard no_grad;
  const auto source = weight.to(torch::kCPU, torch::kFloat).contiguous();
  const auto element = type == ProductType::float32 ? torch::kFloat : torch::kBFloat16;
  panels_ = torch::empty({packed_size(outputs_, width_)}, element);
  kernel::with_type(element, [&]<class T>(T) {
    kernel::pack(source.const_data_ptr<float>(), outputs_, width_, kernel::pointer<T>(panels_));
  });
}

bool PackedWeight::serves(const torch::Tensor& x) { return kernel::serves(x); }

torch::Tensor PackedWeight::multiply(const torch::Tensor& x, const torch::Tensor& bias) const {
  auto shape = x.sizes().vec();
  shape.back() = outputs_;
  auto output = torch::empty(shape, x.options());
  kernel::with_type(panels_.scalar_type(), [&]<class T>(T) {
    const kernel::PackedProduct<T> product{
        .x = x.const_data_ptr<float>(),
        .weight = kernel::pointer<const T>(panels_),
        .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
        .output = output.mutable_data_ptr<float>(),
        .rows = x.numel() / width_,
        .width = width_,
        .outputs = outputs_};
    at::parallel_for(0, kernel::panels(outputs_), kernel::grain(product.rows * width_),
                     [&](int64_t begin, int64_t end) { kernel::multiply(product, begin, end); });
  });
  return output;
}

}  // namespace ablate::models
