#include "models/mixture.h"

#include <torch/csrc/jit/frontend/tracer.h>

#include "models/kernel/expert_mix.h"
#include "models/kernel/packed_product.h"
#include "models/kernel/run.h"

namespace ablate::models {
namespace {

/// Below any share of a position, above the rounding of a product.
constexpr double kRounding = 1e-9;

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Rows taken from `copies` copies of x in the order `to`, `from` being its inverse. The gradient
/// is gathered by `from`, where index_select's own would scatter row by row.
struct PermuteTokens : torch::autograd::Function<PermuteTokens> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& to, const torch::Tensor& from, int64_t copies) {
    context->saved_data["from"] = from;
    context->saved_data["copies"] = copies;
    return x.index_select(0, copies == 1 ? to : to.remainder(x.size(0)));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto rows = gradients[0].index_select(0, context->saved_data["from"].toTensor());
    const int64_t copies = context->saved_data["copies"].toInt();
    if (copies == 1) return {rows, {}, {}, {}};
    return {rows.view({copies, -1, rows.size(1)}).sum(0), {}, {}, {}};
  }
};

torch::Tensor permute_tokens(const torch::Tensor& x, const torch::Tensor& to,
                             const torch::Tensor& from, int64_t copies) {
  if (torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing())
    return PermuteTokens::apply(x, to, from, copies);
  // Lengths come from tensors: a trace would bake a C++ number.
  const auto rows = torch::ones_like(x.select(1, 0), torch::kLong).sum();
  return x.index_select(0, copies == 1 ? to : to.remainder(rows));
}

/// 0, 1, 2, ... in the length of x, from operations a trace keeps. // [M] -> [M]
torch::Tensor places(const torch::Tensor& x) {
  return torch::ones_like(x, torch::kLong).cumsum(0) - 1;
}

/// The inverse of a permutation. // [M] -> [M]
torch::Tensor inverted(const torch::Tensor& order) {
  return torch::empty_like(order).index_copy(0, order, places(order));
}

/// Whether the CPU kernel of kernel/expert_mix.h can do this pass.
bool has_kernel(const torch::Tensor& flat, const torch::Tensor& weight) {
  return kernel::serves(flat) && weight.scalar_type() == torch::kFloat && flat.size(1) % 16 == 0;
}

/// `parts` matrices of [rows, columns] below each other for every expert, each drawn by itself.
XavierUniform expert_matrices(int64_t experts, int64_t parts, int64_t rows) {
  return {.rows = std::vector<int64_t>(static_cast<size_t>(experts * parts), rows)};
}

}  // namespace

Mixture::Mixture(const MixtureOptions& options, const StackOptions& stack)
    : options_(options),
      router_(register_module("router", make_router(options, stack.d_model))),
      up_(register_parameter(
          "up", {options.experts, (options.gated ? 2 : 1) * options.d_hidden, stack.d_model},
          expert_matrices(options.experts, options.gated ? 2 : 1, options.d_hidden), Role::matrix)),
      down_(register_parameter("down", {options.experts, options.d_hidden, stack.d_model},
                               expert_matrices(options.experts, 1, options.d_hidden),
                               Role::matrix)) {
  if (stack.bias) {
    up_bias_ =
        register_parameter("up_bias", {options.experts, up_.size(1)}, Constant{0}, Role::vector);
    down_bias_ = register_parameter("down_bias", {options.experts, stack.d_model}, Constant{0},
                                    Role::vector);
  }
  if (options.shared_experts == 0) return;
  const DenseFeedForward shared{.d_hidden = options.shared_experts * options.d_hidden,
                                .activation = options.activation,
                                .gated = options.gated};
  shared_ = register_module("shared", std::make_shared<Dense>(shared, stack));
}

torch::Tensor Mixture::apply_capacity(const torch::Tensor& experts, const torch::Tensor& weights,
                                      const torch::Tensor& padding_mask, bool training) const {
  const auto* limited = std::get_if<Limited>(&options_.capacity);
  if (limited == nullptr) return experts;
  const auto expert = experts.t().flatten(), weight = weights.t().flatten();  // [k N]
  const double factor = training ? limited->factor : limited->evaluation;
  const double share =
      factor * static_cast<double>(options_.active) / static_cast<double>(options_.experts);
  const auto room = (padding_mask.sum().to(torch::kDouble) * share - kRounding).ceil();
  auto order = places(expert);
  if (limited->keep == Keep::likeliest)
    order = weight.detach().argsort(/*stable=*/true, 0, /*descending=*/true);
  order = order.index_select(0, expert.index_select(0, order).argsort(/*stable=*/true, 0, false));
  const auto sorted = expert.index_select(0, order);
  const auto counts = count_experts(sorted, options_.experts + 1);
  const auto rank = places(sorted) - (counts.cumsum(0) - counts).index_select(0, sorted);
  return sorted.masked_fill(rank.ge(room), options_.experts)
      .index_select(0, inverted(order))
      .unflatten(0, {experts.size(1), -1})
      .t();
}

torch::Tensor Mixture::run_experts(const torch::Tensor& sorted, const torch::Tensor& counts) const {
  const auto type = sorted.scalar_type();
  const auto up = up_.to(type).unbind(0), down = down_.to(type).unbind(0);
  std::vector<torch::Tensor> up_bias(up.size()), down_bias(up.size());
  if (up_bias_.defined()) {
    up_bias = up_bias_.to(type).unbind(0);
    down_bias = down_bias_.to(type).unbind(0);
  }
  // The last part holds what goes to no expert.
  const auto parts = at::tensor_split(sorted, counts.cumsum(0).slice(0, 0, options_.experts).cpu());
  std::vector<torch::Tensor> outputs;
  for (size_t e = 0; e < up.size(); ++e)
    outputs.push_back(torch::linear(hidden_layer(torch::linear(parts[e], up[e], up_bias[e]),
                                                 options_.activation, options_.gated),
                                    down[e].t(), down_bias[e]));
  outputs.push_back(torch::zeros_like(parts[up.size()]));
  return torch::cat(outputs);
}

void Mixture::prepare_for_decoding() {
  if (options_.d_hidden % kernel::kPanel != 0) return;
  const torch::NoGradGuard no_grad;
  const auto all = up_.to(torch::kCPU, torch::kFloat).flatten(0, 1).contiguous();  // [E F, D]
  up_packed_ = torch::empty_like(all);
  kernel::pack(all.const_data_ptr<float>(), all.size(0), all.size(1),
               up_packed_.mutable_data_ptr<float>());
}

torch::Tensor Mixture::forward_fused(const torch::Tensor& flat, const torch::Tensor& experts,
                                     const torch::Tensor& weights) const {
  const auto pointer = [](const torch::Tensor& x) {
    return x.defined() ? x.const_data_ptr<float>() : nullptr;
  };
  const auto curve = options_.activation == Activation::relu   ? kernel::Curve::relu
                     : options_.activation == Activation::gelu ? kernel::Curve::gelu
                                                               : kernel::Curve::silu;
  const kernel::ExpertWeights all{
      pointer(up_),     pointer(up_packed_), pointer(up_bias_), pointer(down_), pointer(down_bias_),
      options_.experts, options_.d_hidden,   flat.size(1),      curve,          options_.gated};
  const auto numbers = experts.contiguous(), shares = weights.contiguous();
  const kernel::ExpertSlots slots{numbers.const_data_ptr<int64_t>(), pointer(shares),
                                  experts.size(1)};
  auto output = torch::empty_like(flat);
  at::parallel_for(0, flat.size(0), kernel::kMixBlock, [&](int64_t begin, int64_t end) {
    kernel::mix_experts(all, slots, pointer(flat), output.mutable_data_ptr<float>(), begin, end);
  });
  return output;
}

torch::Tensor Mixture::forward_grouped(const torch::Tensor& flat, const torch::Tensor& experts,
                                       const torch::Tensor& weights) const {
  // Slot by slot, so that a stable order puts first choices before second ones.
  const int64_t slots = experts.size(1);
  const auto expert = experts.t().flatten(), weight = weights.t().flatten();  // [k N]
  const auto order = expert.argsort(/*stable=*/true, 0, false), back = inverted(order);
  const auto counts = count_experts(expert, options_.experts + 1);
  const auto outputs =
      permute_tokens(run_experts(permute_tokens(flat, order, back, slots), counts), back, order, 1);
  const auto y = outputs * weight.to(flat.scalar_type()).unsqueeze(1);  // [k N, D]
  return slots == 1 ? y : y.unflatten(0, {slots, -1}).sum(0);
}

torch::Tensor Mixture::padding_mask_of(const torch::Tensor& flat,
                                       const ForwardContext& context) const {
  if (context.padding_mask.defined()) return context.padding_mask.flatten();
  // Most decoding steps pad nothing, and every operator counts there.
  const bool needed =
      std::holds_alternative<Limited>(options_.capacity) ||
      std::visit([]<class Held>(const Held&) { return Held::needs_padding_mask; }, options_.router);
  return needed ? torch::ones_like(flat.select(1, 0), torch::kBool) : torch::Tensor();
}

FeedForwardOutput Mixture::forward(const torch::Tensor& x, const ForwardContext& context) {
  const auto flat = x.flatten(0, 1);  // [N, D]
  const auto mask = padding_mask_of(flat, context);
  const auto chosen = router_->forward(
      {.x = flat,
       .padding_mask = mask,
       .token_ids = context.token_ids.defined() ? context.token_ids.flatten() : context.token_ids,
       .up = up_,
       .up_bias = up_bias_},
      context);
  const auto wanted =
      context.padding_mask.defined()
          ? chosen.topk_idx.masked_fill(mask.logical_not().unsqueeze(1), options_.experts)
          : chosen.topk_idx;  // [N, k]
  const auto kept = apply_capacity(wanted, chosen.topk_weight, mask, context.training);
  const auto y =
      (has_kernel(flat, chosen.topk_weight) ? forward_fused(flat, kept, chosen.topk_weight)
                                            : forward_grouped(flat, kept, chosen.topk_weight))
          .view_as(x);
  return {.output = shared_ ? y + shared_->forward(x, context).output : y,
          .routing = Routing{.router = chosen,
                             .padding_mask = mask,
                             .wanted_idx = wanted,
                             .kept_idx = kept,
                             .experts = options_.experts,
                             .active = options_.active,
                             .balance = options_.balance}};
}

}  // namespace ablate::models
