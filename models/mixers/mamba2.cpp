#include <cmath>

#include "models/linear.h"
#include "models/mixers/state_mixer.h"
#include "models/ops/elementwise.h"
#include "models/residual.h"

namespace ablate::models {
namespace {

/// Steps start between 0.001 and 0.1, evenly in their logarithms, which are nearly those of their
/// softplus, and rates of decay between 1 and 16, evenly in themselves (Dao & Gu 2024, as in the
/// authors' code).
const Uniform kFirstSteps{std::log(0.001), std::log(0.1)};
constexpr UniformExponential kFirstRates{1, 16};

class Mamba2Mixer : public StateMixer {
 public:
  Mamba2Mixer(const Mamba2& options, const StackOptions& stack)
      : StateMixer(Forgetting::gated),
        heads_(options.heads),
        state_size_(options.state_size),
        values_(options.value_width(stack.d_model)),
        projection_(register_module(
            "projection",
            Linear(stack.d_model, std::vector{values_, values_, state_size_, state_size_},
                   stack.bias))),
        step_(register_module("step", Linear(stack.d_model, heads_, false, Projection::head_gate))),
        norm_(register_module("output_norm", make_inner_norm(NormKind::rms, values_, stack))),
        out_(register_module("out",
                             Linear(values_, stack.d_model, stack.bias, Projection::output))) {
    convolve_projections({.width = Mamba2::width, .residual = false},
                         options.convolved_width(stack.d_model));
    const auto of_heads = [&](const char* name, const Initializer& first) {
      return register_parameter(name, {heads_}, first, Role::vector);
    };
    step_bias_ = of_heads("step_bias", kFirstSteps);
    log_rate_ = of_heads("log_rate", kFirstRates);
    skip_ = of_heads("skip", Constant{1});
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    return {.blocks = {{empty_state(like, heads_, state_size_, values_ / heads_), {}}}};
  }

 private:
  StateHeads projected(const torch::Tensor& x, KVCache* cache) const override {
    const auto parts =
        projection_->forward(x).split_with_sizes({values_, values_ + 2 * state_size_}, -1);
    const auto mixed = ops::wide(torch::silu(convolved(parts[1], cache)))
                           .split_with_sizes({values_, state_size_, state_size_}, -1);
    const auto step = ops::split_heads(
        at::softplus(ops::wide(step_->forward(x)) + ops::wide(step_bias_)), heads_);
    return {.query = mixed[2].unsqueeze(1),
            .key = mixed[1].unsqueeze(1),
            .value = ops::split_heads(mixed[0], heads_),
            .strength = step,
            .log_kept = step * by_head(-log_rate_.exp()),
            .gate = parts[0]};
  }

  torch::Tensor read(const StateHeads& heads, KVCache::Block& state) const override {
    const Kept kept(heads);
    const auto written = heads.value * heads.strength;  // [B, H, T, W]
    const auto found = kept.products(heads.query, heads.key).matmul(written) +
                       kept.of_state(heads.query).matmul(state[0]);
    state[0] = kept.state_after(state[0], heads.key, written);
    return found;
  }

  torch::Tensor finished(const torch::Tensor& x, const StateHeads& heads,
                         const torch::Tensor& found, const Observer* observer) const override {
    const auto all = ops::join_heads(found + by_head(skip_) * heads.value).to(x.scalar_type());
    const auto normed = norm_->forward(all * torch::silu(heads.gate));
    return out_->forward(observed_heads(normed, heads_, observer));
  }

  static torch::Tensor by_head(const torch::Tensor& x) {  // [H] -> [H, 1, 1]
    return ops::wide(x).view({-1, 1, 1});
  }

  int64_t heads_, state_size_, values_;  // values_: of all heads together
  Linear projection_, step_;
  Norm norm_;
  Linear out_;
  torch::Tensor step_bias_, log_rate_, skip_;  // [H]
};

}  // namespace

std::shared_ptr<Mixer> Mamba2::make(const StackOptions& stack) const {
  return std::make_shared<Mamba2Mixer>(*this, stack);
}

}  // namespace ablate::models
