#include "models/ops/short_convolution.h"

#include "models/ops/backend.h"
#include "models/ops/products.h"
#include "models/ops/weight_casts.h"

namespace ablate::models::ops {
namespace {

/// The positions that are `back` before those with a whole window of `width`.
/// // [B, width - 1 + T, C] -> [B, T, C]
torch::Tensor window(const torch::Tensor& x, int64_t width, int64_t back) {
  const int64_t begin = width - 1 - back;
  return back == 0 ? x.slice(1, begin) : x.slice(1, begin, -back);
}

torch::Tensor convolve(const torch::Tensor& x, const torch::Tensor& weight, bool adds_input) {
  const int64_t width = weight.size(0);
  const auto own = window(x, width, 0);
  auto y = adds_input ? own.clone() : torch::zeros_like(own);
  for (int64_t back = 0; back < width; ++back) y.addcmul_(window(x, width, back), weight[back]);
  return y;
}

/// Autograd by itself would fill a gradient with zeros for each weight.
struct Convolve : torch::autograd::Function<Convolve> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& weight, bool adds_input) {
    context->save_for_backward({x, weight});
    context->saved_data["adds_input"] = adds_input;
    return convolve(x, weight, adds_input);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    refuse_second_derivative("the short convolution");
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &of_y = gradients[0];
    const int64_t width = weight.size(0);
    const auto of_x = torch::zeros_like(x);
    if (context->saved_data["adds_input"].toBool()) window(of_x, width, 0).copy_(of_y);
    std::vector<torch::Tensor> of_weight;
    for (int64_t back = 0; back < width; ++back) {
      window(of_x, width, back).addcmul_(of_y, weight[back]);
      of_weight.push_back((of_y * window(x, width, back)).sum(at::IntArrayRef{0, 1}));
    }
    return {of_x, torch::stack(of_weight), torch::Tensor()};
  }
};

}  // namespace

torch::Tensor short_convolution(const torch::Tensor& x, const torch::Tensor& weight,
                                bool adds_input) {
  const auto own = weight_in(weight, x.scalar_type());
  const int64_t outputs = x.size(0) * (x.size(1) - own.size(0) + 1);
  count_product(static_cast<double>(outputs * own.numel()), {x, own});
  return torch::GradMode::is_enabled() ? Convolve::apply(x, own, adds_input)
                                       : convolve(x, own, adds_input);
}

}  // namespace ablate::models::ops
