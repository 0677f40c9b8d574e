// Operators that ATen has for CUDA alone.
#include <ATen/ATen.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/GroupedMMUtils.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <ATen/ops/_grouped_mm_compositeexplicitautograd_dispatch.h>
#include <torch/library.h>

#include <cmath>

#include "tests/device/fake_cuda/counts.h"
#include "tests/device/fake_cuda/tensors.h"

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

/// A copy in the layout that CUDA's kernels leave: the heads of a position beside each other.
at::Tensor heads_together(const at::Tensor& x, at::ScalarType type) {  // [B, H, T, *]
  return device_copy(x.to(type).transpose(1, 2).contiguous()).transpose(1, 2);
}

at::Tensor wide(const at::Tensor& tensor) { return cpu_view(tensor).to(at::kFloat); }

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
    const std::optional<at::Tensor>& bias, bool, double, bool causal, std::optional<double> scale) {
  count_call("aten::_scaled_dot_product_efficient_attention");
  const InsideOperator inside;
  const auto p = probabilities(wide(query), wide(key), bias ? wide(*bias) : at::Tensor(), causal,
                               scale_of(query, scale));
  const auto seed = at::zeros({}, at::kLong);
  return {heads_together(at::matmul(p.value, wide(value)), query.scalar_type()),
          device_copy(p.log_sum_exp), device_copy(seed), device_copy(seed)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor& gradient, const at::Tensor& query, const at::Tensor& key,
    const at::Tensor& value, const at::Tensor& bias, const at::Tensor&, const at::Tensor&,
    const at::Tensor&, const at::Tensor&, double, std::array<bool, 4> wanted, bool causal,
    std::optional<double> scale) {
  count_call("aten::_scaled_dot_product_efficient_attention_backward");
  const InsideOperator inside;
  const double factor = scale_of(query, scale);
  const auto q = wide(query), k = wide(key), v = wide(value), g = wide(gradient);
  const auto p =
      probabilities(q, k, bias.defined() ? wide(bias) : at::Tensor(), causal, factor).value;
  const auto of_p = at::matmul(g, v.transpose(-2, -1));
  const auto of_scores = p * (of_p - (of_p * p).sum(-1, /*keepdim=*/true));
  const auto type = query.scalar_type();
  return {heads_together(at::matmul(of_scores, k) * factor, type),
          heads_together(at::matmul(of_scores.transpose(-2, -1), q) * factor, type),
          heads_together(at::matmul(p.transpose(-2, -1), g), type),
          wanted[3] ? device_copy(of_scores.to(type)) : at::Tensor()};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(
    const at::Tensor& from_input, const at::Tensor& from_hidden, const at::Tensor& cell,
    const std::optional<at::Tensor>& input_bias, const std::optional<at::Tensor>& hidden_bias) {
  count_call("aten::_thnn_fused_lstm_cell");
  const InsideOperator inside;
  auto products = cpu_view(from_input) + cpu_view(from_hidden);
  if (input_bias && input_bias->defined())
    products = products + cpu_view(*input_bias) + cpu_view(*hidden_bias);
  const auto parts = products.unsafe_chunk(4, 1);
  const auto in = parts[0].sigmoid(), forget = parts[1].sigmoid(), candidate = parts[2].tanh(),
             out = parts[3].sigmoid();
  const auto next = forget * cpu_view(cell) + in * candidate;
  return {device_copy(out * next.tanh()), device_copy(next),
          device_copy(at::cat({in, forget, candidate, out}, 1))};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(
    const std::optional<at::Tensor>& of_hidden, const std::optional<at::Tensor>& of_cell,
    const at::Tensor& cell, const at::Tensor& next, const at::Tensor& workspace, bool has_bias) {
  count_call("aten::_thnn_fused_lstm_cell_backward_impl");
  const InsideOperator inside;
  const auto parts = cpu_view(workspace).unsafe_chunk(4, 1);
  const auto &in = parts[0], &forget = parts[1], &candidate = parts[2], &out = parts[3];
  const auto before = cpu_view(cell), squashed = cpu_view(next).tanh();
  const auto h = of_hidden && of_hidden->defined() ? cpu_view(*of_hidden) : at::zeros_like(before);
  auto c = h * out * (1 - squashed * squashed);
  if (of_cell && of_cell->defined()) c = c + cpu_view(*of_cell);
  const auto gates = at::cat({c * candidate * in * (1 - in), c * before * forget * (1 - forget),
                              c * in * (1 - candidate * candidate), h * squashed * out * (1 - out)},
                             1);
  return {device_copy(gates), device_copy(c * forget),
          has_bias ? device_copy(gates.sum(0)) : at::Tensor()};
}

/// One kernel for bfloat16, as a device of compute capability 9.0 has it, whose rows behind the
/// last group are anything; otherwise products one by one, whose ends LibTorch copies to the host.
at::Tensor grouped_mm(const at::Tensor& left, const at::Tensor& right,
                      const std::optional<at::Tensor>& ends, const std::optional<at::Tensor>& bias,
                      std::optional<at::ScalarType> type) {
  if (left.scalar_type() != at::kBFloat16 || right.scalar_type() != at::kBFloat16)
    return at::compositeexplicitautograd::_grouped_mm(left, right, ends, bias, type);
  at::native::_grouped_mm_validate_inputs(left, right, ends, bias, type);
  count_call("aten::_grouped_mm");
  const InsideOperator inside;
  const auto last = cpu_view(*ends)[-1].item<int64_t>();
  auto result = at::_grouped_mm(cpu_view(left), cpu_view(right), cpu_view(*ends), bias, type);
  if (result.dim() == 2) result.slice(0, last).fill_(NAN);
  return device_copy(result);
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
