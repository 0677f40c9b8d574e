#include "models/ops/expert_feed_forward.h"

#include <ATen/ops/_grouped_mm.h>
#include <torch/csrc/jit/frontend/tracer.h>

#include "models/hardware.h"
#include "models/ops/backend.h"
#include "models/ops/cpu/backend.h"
#include "models/ops/top_k.h"
#include "models/ops/weight_casts.h"

namespace ablate::models::ops {
namespace {

/// A permutation of the rows of some copies of one matrix, and its inverse. // [copies N]
struct Permutation {
  torch::Tensor order, inverse;
  int64_t copies = 1;
};

/// The gradient is gathered by the inverse, while index_select's own would scatter row by row.
struct PermuteRows : torch::autograd::Function<PermuteRows> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const Permutation& to) {
    context->saved_data["inverse"] = to.inverse;
    context->saved_data["copies"] = to.copies;
    return x.index_select(0, to.copies == 1 ? to.order : to.order.remainder(x.size(0)));
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    const auto rows = grad_outputs[0].index_select(0, context->saved_data["inverse"].toTensor());
    const int64_t copies = context->saved_data["copies"].toInt();
    if (copies == 1) return {rows, {}};
    return {rows.view({copies, -1, rows.size(1)}).sum(0), {}};
  }
};

torch::Tensor permute_rows(const torch::Tensor& x, const Permutation& to) {
  if (torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing())
    return PermuteRows::apply(x, to);
  if (to.copies == 1) return x.index_select(0, to.order);
  // Lengths come from tensors: a trace would bake a C++ number.
  const auto rows = torch::ones_like(x.select(1, 0), torch::kLong).sum();
  return x.index_select(0, to.order.remainder(rows));
}

/// Matrices or biases of all experts in `type`, expert by expert; undefined if there are none.
std::vector<torch::Tensor> by_expert(const torch::Tensor& of_all, const Experts& experts,
                                     torch::ScalarType type) {
  if (!of_all.defined()) return std::vector<torch::Tensor>(size_t(experts.up.size(0)));
  return weight_in(of_all, type).unbind(0);
}

/// Rows sorted by expert, expert by expert, with rows without an expert at the end. // [M, D],
/// [E + 1] -> E + 1 of [Me, D]
std::vector<torch::Tensor> split_by_expert(const torch::Tensor& sorted,
                                           const torch::Tensor& counts) {
  return at::tensor_split(sorted, counts.cumsum(0).slice(0, 0, counts.size(0) - 1).cpu());
}

/// The first halves of all experts.
struct UpProjections {
  explicit UpProjections(const Experts& all, torch::ScalarType type)
      : experts(all), up(by_expert(all.up, all, type)), bias(by_expert(all.up_bias, all, type)) {}

  /// // [Me, D] -> [Me, F]
  torch::Tensor operator()(size_t expert, const torch::Tensor& rows) const {
    return hidden_layer(torch::linear(rows, up[expert], bias[expert]), experts.activation,
                        experts.gated);
  }

  const Experts& experts;
  std::vector<torch::Tensor> up, bias;
};

/// The part of a dropout that acts on the rows of one expert.
DropoutStream of_expert(DropoutStream stream, size_t expert) {
  stream.noise.seed = derive_seed(stream.noise.seed, "expert", expert);
  return stream;
}

/// Rows sorted by expert, through their experts; rows without an expert, at the end, become 0.
/// // [M, D], [E + 1] -> [M, D]
torch::Tensor through_experts(const torch::Tensor& sorted, const torch::Tensor& counts,
                              const Experts& experts, const DropoutStream& stream) {
  const UpProjections hidden(experts, sorted.scalar_type());
  const auto down = by_expert(experts.down, experts, sorted.scalar_type());
  const auto bias = by_expert(experts.down_bias, experts, sorted.scalar_type());
  auto rows = split_by_expert(sorted, counts);
  for (size_t e = 0; e < down.size(); ++e)
    rows[e] =
        torch::linear(dropout(hidden(e, rows[e]), of_expert(stream, e)), down[e].t(), bias[e]);
  rows.back() = torch::zeros_like(rows.back());
  return torch::cat(rows);
}

/// The same by two products over all experts, so that the ends of their rows need not be copied to
/// the host. `expert` is that of each row. // [M, D], [M] -> [M, D]
torch::Tensor through_groups(const torch::Tensor& sorted, const torch::Tensor& expert,
                             const Experts& experts, const DropoutStream& stream) {
  const auto type = sorted.scalar_type();
  const auto ends = bin_counts(expert, experts.up.size(0)).cumsum(0, torch::kInt);  // [E]
  const auto product = [&](const torch::Tensor& x, const torch::Tensor& matrices,
                           const torch::Tensor& bias) {
    const auto y = at::_grouped_mm(x, matrices, ends);
    return bias.defined() ? y + torch::embedding(weight_in(bias, type), expert) : y;
  };
  const auto up = product(sorted, weight_in(experts.up, type).transpose(1, 2), experts.up_bias);
  return product(dropout(hidden_layer(up, experts.activation, experts.gated), stream),
                 weight_in(experts.down, type), experts.down_bias);
}

/// Two products for every expert over its positions, sorted next to each other.
torch::Tensor grouped(const torch::Tensor& x, const Experts& experts, const ExpertChoice& choice,
                      const DropoutStream& stream) {
  // Slot by slot, so that a stable order puts first choices before second ones.
  const int64_t slots = choice.expert.size(1), none = experts.up.size(0);
  auto expert = choice.expert.t().flatten(), weight = choice.weight.t().flatten();  // [k N]
  const bool together =
      computes_elsewhere(x) && multiplies_groups(x.scalar_type(), x.size(1), experts.down.size(1));
  if (together) {  // no kernel writes rows of no group
    weight = weight.masked_fill(expert.eq(none), 0.0);
    expert = expert.clamp_max(none - 1);
  }
  const auto order = expert.argsort(/*stable=*/true, 0, false);
  const auto inverse = inverse_permutation(order);
  const auto sorted = permute_rows(x, {.order = order, .inverse = inverse, .copies = slots});
  const auto passed = together
                          ? through_groups(sorted, expert.index_select(0, order), experts, stream)
                          : through_experts(sorted, bin_counts(expert, none + 1), experts, stream);
  const auto outputs = permute_rows(passed, {.order = inverse, .inverse = order});
  const auto y = outputs * weight.to(x.scalar_type()).unsqueeze(1);  // [k N, D]
  return slots == 1 ? y : y.unflatten(0, {slots, -1}).sum(0);
}

/// The shapes of grouped() without values, for which no expert is known: all rows pass through the
/// first one.
torch::Tensor through_first(const torch::Tensor& x, const Experts& experts,
                            const ExpertChoice& choice) {
  const auto type = x.scalar_type();
  const UpProjections hidden(experts, type);
  const auto down = by_expert(experts.down, experts, type).front().t();
  const auto y = torch::linear(hidden(0, x.repeat({choice.expert.size(1), 1})), down,
                               by_expert(experts.down_bias, experts, type).front());
  return (y * choice.weight.to(type).t().reshape({-1, 1})).unflatten(0, {-1, x.size(0)}).sum(0);
}

/// Whether computing all experts for a position is cheaper than moving its rows to its experts and
/// back. With this few neurons it takes from a seventh to all of that time on one CPU thread.
bool multiplies_all(const Experts& experts, const ExpertChoice& choice) {
  const auto& down = experts.down;
  return 2 * down.size(0) * down.size(1) <= choice.expert.size(1) * down.size(2);
}

/// The weight of each expert's output at each position. // [N, E]
torch::Tensor weights_by_expert(const ExpertChoice& choice, int64_t experts) {
  const auto zeros = torch::zeros_like(choice.weight.narrow(1, 0, 1)).expand({-1, experts + 1});
  return zeros.scatter_add(1, choice.expert, choice.weight).narrow(1, 0, experts);
}

/// All experts over all positions by two products, with weight 0 for experts that are not chosen.
torch::Tensor weighted(const torch::Tensor& x, const Experts& experts, const ExpertChoice& choice,
                       const DropoutStream& stream) {
  const auto type = x.scalar_type();
  const int64_t count = experts.up.size(0);
  const auto weights = weights_by_expert(choice, count).to(type);
  auto up = x.mm(experts.up.to(type).flatten(0, 1).t());  // [N, E F], gated [N, E 2F]
  if (experts.up_bias.defined()) up = up + experts.up_bias.to(type).flatten();
  const auto whole = hidden_layer(up.unflatten(1, {count, -1}), experts.activation, experts.gated);
  const auto hidden = dropout(whole, stream) * weights.unsqueeze(2);  // [N, E, F]
  const auto y = hidden.flatten(1).mm(experts.down.to(type).flatten(0, 1));
  return experts.down_bias.defined() ? y + weights.mm(experts.down_bias.to(type)) : y;
}

}  // namespace

Experts Experts::prepacked() const {
  auto experts = *this;
  if constexpr (kHasKernels) experts.packed_up = cpu::pack_experts(up, down.size(1));
  return experts;
}

bool multiplies_groups(torch::ScalarType type, int64_t d_model, int64_t d_hidden) {
  // Without a kernel for groups LibTorch copies the ends of their rows to the host for every
  // product and every gradient.
  constexpr int64_t kAlignment = 8;  // 16 bytes
  const int capability = cuda_device().compute_capability;
  return type == torch::kBFloat16 && (capability == 9 || capability == 10) &&
         d_model % kAlignment == 0 && d_hidden % kAlignment == 0;
}

torch::Tensor expert_feed_forward(const torch::Tensor& x, const Experts& experts,
                                  const ExpertChoice& choice, const DropoutStream& stream) {
  if constexpr (kHasKernels)
    if (infers_on_cpu(x) && stream.rate == 0 && choice.weight.scalar_type() == torch::kFloat &&
        x.size(1) % cpu::kMixWidth == 0)
      return cpu::mix_experts(x.contiguous(), experts, choice);
  if (x.is_meta()) return through_first(x, experts, choice);
  if (multiplies_all(experts, choice)) return weighted(x, experts, choice, stream);
  return grouped(x, experts, choice, stream);
}

torch::Tensor expert_hidden_layers(const torch::Tensor& x, const Experts& experts,
                                   const ExpertChoice& choice) {
  const auto expert = choice.expert.flatten();  // [N k]
  const auto position =
      expert.argsort(/*stable=*/true, 0, false).div(choice.expert.size(1), "floor");
  auto rows =
      split_by_expert(x.index_select(0, position), bin_counts(expert, experts.up.size(0) + 1));
  rows.pop_back();
  const UpProjections hidden(experts, x.scalar_type());
  for (size_t e = 0; e < rows.size(); ++e) rows[e] = hidden(e, rows[e]);
  return torch::cat(rows);
}

}  // namespace ablate::models::ops
