#include "models/linear.h"
#include "models/mixer.h"
#include "models/ops/elementwise.h"

namespace ablate::models {
namespace {

class AverageMixer : public Mixer {
 public:
  AverageMixer(const Average&, const StackOptions& options)
      : causal_(options.causal),
        value_(register_module("value", Linear(options.d_model, options.d_model, options.bias))),
        out_(register_module(
            "out", Linear(options.d_model, options.d_model, options.bias, Projection::output))) {}

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition& position,
                        const ForwardContext& context) override {
    if (causal_) {
      auto cache = empty_cache(x);
      return step(x, cache, position, context);
    }
    const auto& padding_mask = context.padding_mask;
    const auto values = without_padding(value_(x), padding_mask);  // [B, T, D]
    const auto count = padding_mask.defined() ? padding_mask.sum(1, /*keepdim=*/true).unsqueeze(-1)
                                              : counted(x).amax(1, /*keepdim=*/true);
    return out_((values.sum(1, /*keepdim=*/true) / count).to(x.scalar_type()).expand_as(x));
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    const auto zeros = torch::zeros_like(like.narrow(1, 0, 1), ops::wide_type(like));
    return {.blocks = {{zeros, zeros.narrow(-1, 0, 1)}}};  // sum [B, 1, D], count [B, 1, 1]
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition&,
                     const ForwardContext&) override {
    const auto& [sum, count] = cache.concatenate();
    const auto sums = sum + value_(x).cumsum(1, ops::wide_type(x));  // [B, T, D]
    const auto counts = count + counted(x);                          // [B, T, 1]
    cache.blocks = {{sums.slice(1, -1), counts.slice(1, -1)}};
    return out_((sums / counts).to(x.scalar_type()));
  }

 private:
  /// 1, 2, 3, ... for every position. // [B, T, D] -> [B, T, 1]
  static torch::Tensor counted(const torch::Tensor& x) {
    return torch::ones_like(x.narrow(-1, 0, 1), ops::wide_type(x)).cumsum(1);
  }

  bool causal_;
  Linear value_, out_;
};

}  // namespace

std::shared_ptr<Mixer> Average::make(const StackOptions& stack) const {
  return std::make_shared<AverageMixer>(*this, stack);
}

}  // namespace ablate::models
