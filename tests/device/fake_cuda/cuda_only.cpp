// Operators that ATen has for CUDA alone.
#include <ATen/ATen.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/GroupedMMUtils.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_grouped_mm_compositeexplicitautograd_dispatch.h>
#include <torch/library.h>

#include <cmath>

#include "tests/device/fake_cuda/recording.h"

namespace fake_cuda {
namespace {

// B batch, T queries, S keys, H heads, K head width of queries and keys, W of values

/// Fused attention where the memory-efficient kernel of CUDA could run, and separate operators
/// elsewhere.
int64_t fused_attention_choice(const at::Tensor& query, const at::Tensor& key,
                               const at::Tensor& value, const std::optional<at::Tensor>&, double,
                               bool, std::optional<double>, bool) {
  const int64_t alignment = 16 / query.element_size();
  const bool fits = query.dim() == 4 && query.scalar_type() != at::kDouble &&
                    query.size(1) == key.size(1) && query.size(2) > 0 && key.size(2) > 0 &&
                    query.size(3) % alignment == 0 && value.size(3) % alignment == 0;
  return static_cast<int64_t>(fits ? sdp::SDPBackend::efficient_attention : sdp::SDPBackend::math);
}

/// What both passes of an attention compute. // [B, H, T, S], [B, H, T]
struct Probabilities {
  at::Tensor value, log_sum_exp;
};

Probabilities probabilities(const at::Tensor& query, const at::Tensor& key, const at::Tensor& bias,
                            bool causal, double scale) {
  auto scores = at::matmul(query * scale, key.transpose(-2, -1));
  if (bias.defined()) scores = scores + bias;
  if (causal) {
    const auto future = at::ones({query.size(2), key.size(2)}, at::kBool).triu(1);
    scores = scores.masked_fill(future, -INFINITY);
  }
  return {at::_safe_softmax(scores, -1), at::logsumexp(scores, -1)};
}

double scale_of(const at::Tensor& query, std::optional<double> scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
}

/// In the layout that CUDA's kernels leave: the heads of a position beside each other.
at::Tensor heads_together(const at::Tensor& x, at::ScalarType type) {  // [B, H, T, *]
  return x.to(type).transpose(1, 2).contiguous().transpose(1, 2);
}

at::Tensor wide(const at::Tensor& view) { return view.defined() ? view.to(at::kFloat) : view; }

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& bias, bool, double, bool causal, std::optional<double> scale) {
  const double factor = scale_of(query, scale);
  const auto results = launch(
      "aten::_scaled_dot_product_efficient_attention",
      {query, key, value, bias.value_or(at::Tensor())}, [=](const std::vector<at::Tensor>& of) {
        const auto p = probabilities(wide(of[0]), wide(of[1]), wide(of[3]), causal, factor);
        const auto seed = at::zeros({}, at::kLong);
        return std::vector{heads_together(at::matmul(p.value, wide(of[2])), of[0].scalar_type()),
                           p.log_sum_exp, seed, seed};
      });
  return {results[0], results[1], results[2], results[3]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& bias, const at::Tensor&, const at::Tensor&,
    const at::Tensor&, const at::Tensor&, double, std::array<bool, 4> wanted, bool causal,
    std::optional<double> scale) {
  const double factor = scale_of(query, scale);
  const auto results =
      launch("aten::_scaled_dot_product_efficient_attention_backward",
             {query, key, value, bias, gradient}, [=](const std::vector<at::Tensor>& of) {
               const auto q = wide(of[0]), k = wide(of[1]), v = wide(of[2]), g = wide(of[4]);
               const auto p = probabilities(q, k, wide(of[3]), causal, factor).value;
               const auto of_p = at::matmul(g, v.transpose(-2, -1));
               const auto of_scores = p * (of_p - (of_p * p).sum(-1, /*keepdim=*/true));
               const auto type = of[0].scalar_type();
               return std::vector{
                   heads_together(at::matmul(of_scores, k) * factor, type),
                   heads_together(at::matmul(of_scores.transpose(-2, -1), q) * factor, type),
                   heads_together(at::matmul(p.transpose(-2, -1), g), type),
                   wanted[3] ? of_scores.to(type) : at::Tensor()};
             });
  return {results[0], results[1], results[2], results[3]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& from_input, const at::Tensor& from_hidden, const at::Tensor& cell,
    const std::optional<at::Tensor>& input_bias, const std::optional<at::Tensor>& hidden_bias) {
  const auto results = launch(
      "aten::_thnn_fused_lstm_cell",
      {from_input, from_hidden, cell, input_bias.value_or(at::Tensor()),
       hidden_bias.value_or(at::Tensor())},
      [](const std::vector<at::Tensor>& of) {
        auto products = of[0] + of[1];
        if (of[3].defined()) products = products + of[3] + of[4];
        const auto parts = products.unsafe_chunk(4, 1);
        const auto in = parts[0].sigmoid(), forget = parts[1].sigmoid(),
                   candidate = parts[2].tanh(), out = parts[3].sigmoid();
        const auto next = forget * of[2] + in * candidate;
        return std::vector{out * next.tanh(), next, at::cat({in, forget, candidate, out}, 1)};
      });
  return {results[0], results[1], results[2]};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const std::optional<at::Tensor>& of_hidden, const std::optional<at::Tensor>& of_cell,
    const at::Tensor& cell, const at::Tensor& next, const at::Tensor& workspace, bool has_bias) {
  const auto results = launch(
      "aten::_thnn_fused_lstm_cell_backward_impl",
      {cell, next, workspace, of_hidden.value_or(at::Tensor()), of_cell.value_or(at::Tensor())},
      [has_bias](const std::vector<at::Tensor>& of) {
        const auto parts = of[2].unsafe_chunk(4, 1);
        const auto &in = parts[0], &forget = parts[1], &candidate = parts[2], &out = parts[3];
        const auto squashed = of[1].tanh();
        const auto h = of[3].defined() ? of[3] : at::zeros_like(of[0]);
        auto c = h * out * (1 - squashed * squashed);
        if (of[4].defined()) c = c + of[4];
        const auto gates =
            at::cat({c * candidate * in * (1 - in), c * of[0] * forget * (1 - forget),
                     c * in * (1 - candidate * candidate), h * squashed * out * (1 - out)},
                    1);
        return std::vector{gates, c * forget, has_bias ? gates.sum(0) : at::Tensor()};
      });
  return {results[0], results[1], results[2]};
}

/// One kernel for bfloat16, as a device of compute capability 9.0 has it, whose rows behind the
/// last group are anything; otherwise products one by one, whose ends LibTorch copies to the host.
at::Tensor grouped_mm(const at::Tensor& left, const at::Tensor& right,
                      const std::optional<at::Tensor>& ends, const std::optional<at::Tensor>& bias,
                      std::optional<at::ScalarType> type) {
  if (left.scalar_type() != at::kBFloat16 || right.scalar_type() != at::kBFloat16)
    return at::compositeexplicitautograd::_grouped_mm(left, right, ends, bias, type);
  at::native::_grouped_mm_validate_inputs(left, right, ends, bias, type);
  return launch("aten::_grouped_mm", {left, right, *ends, bias.value_or(at::Tensor())},
                [type](const std::vector<at::Tensor>& of) {
                  const auto last = of[2][-1].item<int64_t>();
                  const auto own = of[3].defined() ? std::optional(of[3]) : std::nullopt;
                  auto result = at::_grouped_mm(of[0], of[1], of[2], own, type);
                  if (result.dim() == 2) result.slice(0, last).fill_(NAN);
                  return std::vector{result};
                })[0];
}

const struct Choose {
  Choose() { at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&fused_attention_choice); }
} choose;

}  // namespace
}  // namespace fake_cuda

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("_scaled_dot_product_efficient_attention", &fake_cuda::attention);
  library.impl("_scaled_dot_product_efficient_attention_backward", &fake_cuda::attention_backward);
  library.impl("_grouped_mm", &fake_cuda::grouped_mm);
  library.impl("_thnn_fused_lstm_cell", &fake_cuda::lstm_cell);
  library.impl("_thnn_fused_lstm_cell_backward_impl", &fake_cuda::lstm_cell_backward);
}
