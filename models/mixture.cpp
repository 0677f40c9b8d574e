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
struct Arranged : torch::autograd::Function<Arranged> {
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

torch::Tensor arranged(const torch::Tensor& x, const torch::Tensor& to, const torch::Tensor& from,
                       int64_t copies) {
  if (torch::GradMode::is_enabled() && !torch::jit::tracer::isTracing())
    return Arranged::apply(x, to, from, copies);
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

/// How many of `expert` are 0, 1, ..., count - 1. // [M] -> [count]
torch::Tensor counted(const torch::Tensor& expert, int64_t count) {
  const auto none = torch::zeros({count}, expert.options());
  return none.index_add(0, expert, torch::ones_like(expert));
}

/// Whether the CPU kernel of kernel/expert_mix.h can do this pass.
bool has_kernel(const torch::Tensor& flat, const torch::Tensor& weight) {
  return kernel::serves(flat) && weight.scalar_type() == torch::kFloat && flat.size(1) % 16 == 0;
}

torch::Tensor matrices(int64_t experts, int64_t parts, int64_t rows, int64_t width) {
  auto all = torch::empty({experts * parts, rows, width});
  torch::NoGradGuard no_grad;
  for (auto& matrix : all.unbind(0)) torch::nn::init::xavier_uniform_(matrix);
  return all.view({experts, parts * rows, width});
}

/// 1 + the squared coefficient of variation. // [E] -> []
torch::Tensor evenness(const torch::Tensor& x) {
  return static_cast<double>(x.size(0)) * x.square().sum() / x.sum().square();
}

/// counts: of all choices, kept: of those that found room. // [E], [E]
Routing routing_of(const Choice& choice, const torch::Tensor& counts, const torch::Tensor& kept,
                   const torch::Tensor& real, const MixtureOptions& options) {
  Routing routing;
  const auto share = real.to(choice.weight.scalar_type()) / real.sum();  // [N]
  routing.counts = counts.detach();
  routing.dropped = 1 - kept.sum().to(torch::kFloat) / counts.sum();
  routing.entropy = torch::zeros({}, share.options());
  if (!choice.probability.defined()) return routing;
  const auto p = (choice.probability * share.unsqueeze(1)).sum(0);  // mean [E]
  const auto experts = static_cast<double>(p.size(0));
  const auto used = counts.to(p.scalar_type()) / (real.sum() * static_cast<double>(options.active));
  routing.z = (choice.scores.logsumexp(-1).square() * share).sum();
  routing.penalty = options.balance.z * routing.z;
  if (choice.balances) {
    routing.load = choice.chance.defined() ? evenness((choice.chance * share.unsqueeze(1)).sum(0))
                                           : experts * (used.detach() * p).sum();
    routing.penalty = routing.penalty + options.balance.load * routing.load;
  }
  if (options.balance.importance > 0) {
    const auto weight = (choice.weight * share.unsqueeze(1)).flatten();
    const auto none = torch::zeros({options.experts + 1}, weight.options());
    routing.penalty =
        routing.penalty +
        options.balance.importance *
            evenness(
                none.index_add(0, choice.expert.flatten(), weight).slice(0, 0, options.experts));
  }
  const auto all = choice.probability.detach();
  routing.entropy = -(all.clamp_min(1e-30).log() * all).sum(-1).mul(share).sum();
  return routing;
}

}  // namespace

Mixture::Mixture(const MixtureOptions& options, const StackOptions& stack)
    : options_(options),
      router_(register_module("router", make_router(options, stack.d_model))),
      up_(register_parameter(
          "up", matrices(options.experts, options.gated ? 2 : 1, options.d_hidden, stack.d_model))),
      down_(register_parameter("down",
                               matrices(options.experts, 1, options.d_hidden, stack.d_model))) {
  if (stack.bias) {
    up_bias_ = register_parameter("up_bias", torch::zeros({options.experts, up_.size(1)}));
    down_bias_ = register_parameter("down_bias", torch::zeros({options.experts, stack.d_model}));
  }
  if (options.shared_experts == 0) return;
  const DenseFeedForward shared{.d_hidden = options.shared_experts * options.d_hidden,
                                .activation = options.activation,
                                .gated = options.gated};
  shared_ = register_module("shared", std::make_shared<Dense>(shared, stack));
}

torch::Tensor Mixture::with_room(const torch::Tensor& experts, const torch::Tensor& weights,
                                 const torch::Tensor& real, bool trains) const {
  const auto* limited = std::get_if<Limited>(&options_.capacity);
  if (limited == nullptr) return experts;
  const auto expert = experts.t().flatten(), weight = weights.t().flatten();  // [k N]
  const double factor = trains ? limited->factor : limited->evaluation;
  const double share =
      factor * static_cast<double>(options_.active) / static_cast<double>(options_.experts);
  const auto room = (real.sum().to(torch::kDouble) * share - kRounding).ceil();
  auto order = places(expert);
  if (limited->keep == Keep::likeliest)
    order = weight.detach().argsort(/*stable=*/true, 0, /*descending=*/true);
  order = order.index_select(0, expert.index_select(0, order).argsort(/*stable=*/true, 0, false));
  const auto sorted = expert.index_select(0, order);
  const auto counts = counted(sorted, options_.experts + 1);
  const auto rank = places(sorted) - (counts.cumsum(0) - counts).index_select(0, sorted);
  return sorted.masked_fill(rank.ge(room), options_.experts)
      .index_select(0, inverted(order))
      .unflatten(0, {experts.size(1), -1})
      .t();
}

torch::Tensor Mixture::through_experts(const torch::Tensor& sorted,
                                       const torch::Tensor& counts) const {
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

void Mixture::prepack() {
  if (options_.d_hidden % kernel::kPanel != 0) return;
  const torch::NoGradGuard no_grad;
  const auto all = up_.to(torch::kCPU, torch::kFloat).flatten(0, 1).contiguous();  // [E F, D]
  up_packed_ = torch::empty_like(all);
  kernel::pack(all.const_data_ptr<float>(), all.size(0), all.size(1),
               up_packed_.mutable_data_ptr<float>());
}

torch::Tensor Mixture::mixed(const torch::Tensor& flat, const torch::Tensor& experts,
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

torch::Tensor Mixture::sorted_and_mixed(const torch::Tensor& flat, const torch::Tensor& experts,
                                        const torch::Tensor& weights) const {
  // Slot by slot, so that a stable order puts first choices before second ones.
  const int64_t slots = experts.size(1);
  const auto expert = experts.t().flatten(), weight = weights.t().flatten();  // [k N]
  const auto order = expert.argsort(/*stable=*/true, 0, false), back = inverted(order);
  const auto counts = counted(expert, options_.experts + 1);
  const auto outputs =
      arranged(through_experts(arranged(flat, order, back, slots), counts), back, order, 1);
  const auto y = outputs * weight.to(flat.scalar_type()).unsqueeze(1);  // [k N, D]
  return slots == 1 ? y : y.unflatten(0, {slots, -1}).sum(0);
}

torch::Tensor Mixture::forward(const torch::Tensor& x, const Pass& pass) {
  const auto flat = x.flatten(0, 1);  // [N, D]
  // Most decoding steps pad nothing, and every operator counts there.
  const bool counts_real = pass.real.defined() || pass.recorded != nullptr || needs_real();
  const auto real = pass.real.defined() ? pass.real.flatten()
                    : counts_real       ? torch::ones_like(flat.select(1, 0), torch::kBool)
                                        : torch::Tensor();
  const auto ids = pass.ids.defined() ? pass.ids.flatten() : pass.ids;
  const auto choice = router_->choose({flat, real, ids, pass.dropout, up_, up_bias_});
  const auto wanted = pass.real.defined() ? choice.expert.masked_fill(
                                                real.logical_not().unsqueeze(1), options_.experts)
                                          : choice.expert;  // [N, k]
  const auto expert = with_room(wanted, choice.weight, real, pass.dropout.trains());
  const auto y = (has_kernel(flat, choice.weight) ? mixed(flat, expert, choice.weight)
                                                  : sorted_and_mixed(flat, expert, choice.weight))
                     .view_as(x);
  if (pass.recorded != nullptr) {
    const auto counts = [&](const torch::Tensor& experts) {
      return counted(experts.flatten(), options_.experts + 1).slice(0, 0, options_.experts);
    };
    pass.recorded->routings.push_back(
        routing_of(choice, counts(wanted), counts(expert), real, options_));
  }
  return shared_ ? y + shared_->forward(x, pass) : y;
}

bool Mixture::needs_real() const {
  return std::holds_alternative<Limited>(options_.capacity) ||
         std::holds_alternative<ExpertChoiceRouter>(options_.router);
}

}  // namespace ablate::models
