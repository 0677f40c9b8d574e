#include "models/packed_weight.h"

#include "models/kernel/packed_product.h"
#include "models/kernel/run.h"

namespace ablate::models {
namespace {

/// Bytes of a packed matrix.
int64_t packed_bytes(ProductType type, int64_t outputs, int64_t width) {
  const int64_t panels = kernel::panels(outputs);
  switch (type) {
    case ProductType::float32:
      return panels * kernel::kPanel * width * 4;
    case ProductType::bfloat16:
      return panels * kernel::kPanel * ((width + 1) / 2) * 4;
    case ProductType::int8:
      return panels * kernel::int8_panel_bytes(width);
  }
  TORCH_CHECK(false, "invalid ProductType ", static_cast<int>(type));
}

/// Calls `body` with a value of the kernel's element type.
template <class Body>
void with_element(ProductType type, Body&& body) {
  switch (type) {
    case ProductType::float32:
      return body(float{});
    case ProductType::bfloat16:
      return body(kernel::Bfloat16{});
    case ProductType::int8:
      return body(int8_t{});
  }
}

}  // namespace

PackedWeight::PackedWeight(const torch::Tensor& weight, ProductType type)
    : type_(type), outputs_(weight.size(0)), width_(weight.size(1)) {
  const torch::NoGradGuard no_grad;
  const auto source = weight.to(torch::kCPU, torch::kFloat).contiguous();
  panels_ = torch::empty({packed_bytes(type, outputs_, width_)}, torch::kByte);
  with_element(type, [&]<class T>(T) {
    kernel::pack(source.const_data_ptr<float>(), outputs_, width_, kernel::pointer<T>(panels_));
  });
}

bool PackedWeight::serves(const torch::Tensor& x) { return kernel::serves(x); }

torch::Tensor PackedWeight::multiply(const torch::Tensor& x, const torch::Tensor& bias) const {
  auto shape = x.sizes().vec();
  shape.back() = outputs_;
  auto output = torch::empty(shape, x.options());
  with_element(type_, [&]<class T>(T) {
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
