#include "models/linear.h"
#include "models/mixer.h"

namespace ablate::models {
namespace {

class ConvolutionMixer : public Mixer {
 public:
  ConvolutionMixer(const Convolution& options, const StackOptions& stack)
      : width_(options.width),
        causal_(stack.causal),
        kernel_(register_module(
            "kernel", Linear(stack.d_model * width_, std::vector{stack.d_model, stack.d_model},
                             stack.bias, Projection::output))) {}

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition&,
                        const ForwardContext& context) override {
    const int64_t before = causal_ ? width_ - 1 : width_ / 2, after = width_ - 1 - before;
    return over(
        torch::constant_pad_nd(without_padding(x, context.padding_mask), {0, 0, before, after}));
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    return {.blocks = {{torch::constant_pad_nd(like.narrow(1, 0, 0), {0, 0, width_ - 1, 0}), {}}}};
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition&,
                     const ForwardContext&) override {
    const auto seen = torch::cat({cache.concatenate()[0], x}, 1);  // [B, width - 1 + T, D]
    cache.blocks = {{width_ == 1 ? seen.slice(1, 0, 0) : seen.slice(1, 1 - width_), {}}};
    return over(seen);
  }

 private:
  /// Gated sums over every window. // [B, width - 1 + T, D] -> [B, T, D]
  torch::Tensor over(const torch::Tensor& x) {
    return torch::glu(kernel_(x.unfold(1, width_, 1).flatten(2)), -1);
  }

  int64_t width_;
  bool causal_;
  Linear kernel_;
};

}  // namespace

std::shared_ptr<Mixer> Convolution::make(const StackOptions& stack) const {
  return std::make_shared<ConvolutionMixer>(*this, stack);
}

}  // namespace ablate::models
