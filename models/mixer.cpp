#include "models/mixer.h"

#include <ATen/ops/lstm.h>

#include <cmath>

#include "models/attention/heads.h"
#include "models/linear.h"

namespace ablate::models {
namespace {

/// x with zeros at padding. // [B, T, D], [B, T]
torch::Tensor without_padding(const torch::Tensor& x, const torch::Tensor& padding_mask) {
  return padding_mask.defined() ? x.masked_fill(padding_mask.logical_not().unsqueeze(-1), 0.0) : x;
}

/// Input, forget, cell and output gates stacked; names and distribution are those of torch.nn.LSTM.
class LstmCellsImpl : public Module {
 public:
  LstmCellsImpl(int64_t width, int64_t hidden) {
    const Uniform uniform{.bound = 1 / std::sqrt(static_cast<double>(hidden))};
    weights_ = {register_parameter("weight_ih_l0", {4 * hidden, width}, uniform, Role::matrix),
                register_parameter("weight_hh_l0", {4 * hidden, hidden}, uniform, Role::matrix),
                register_parameter("bias_ih_l0", {4 * hidden}, uniform, Role::vector),
                register_parameter("bias_hh_l0", {4 * hidden}, uniform, Role::vector)};
  }

  torch::ScalarType type() const { return weights_[0].scalar_type(); }
  /// Output, hidden state and cell state. // [B, T, width], [1, B, hidden] twice -> [B, T, hidden]
  std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> forward(const torch::Tensor& x,
                                                                  const torch::Tensor& hidden,
                                                                  const torch::Tensor& cell) const {
    return at::lstm(x, {hidden, cell}, weights_, /*has_biases=*/true, /*num_layers=*/1,
                    /*dropout=*/0.0, /*train=*/true, /*bidirectional=*/false, /*batch_first=*/true);
  }

 private:
  std::vector<torch::Tensor> weights_;
};
TORCH_MODULE(LstmCells);

class LstmMixer : public Mixer {
 public:
  LstmMixer(const Lstm&, const StackOptions& options)
      : width_(options.causal ? options.d_model : options.d_model / 2),
        ahead_(register_module("ahead", LstmCells(options.d_model, width_))) {
    if (!options.causal) back_ = register_module("back", LstmCells(options.d_model, width_));
  }

  torch::Tensor forward(const torch::Tensor& x, const ops::AttentionPosition&,
                        const ForwardContext& context) override {
    auto cache = empty_cache(x);
    const auto ahead = run(ahead_, x, cache);
    if (!back_) return ahead;
    cache = empty_cache(x);
    const auto order = reversal(x, context.padding_mask).unsqueeze(-1);  // [B, T, 1]
    const auto back = run(back_, x.take_along_dim(order, 1), cache).take_along_dim(order, 1);
    return torch::cat({ahead, back}, -1);
  }

  KVCache empty_cache(const torch::Tensor& like) const override {
    const auto zeros = torch::zeros_like(like.select(1, 0).narrow(-1, 0, width_));  // [B, H]
    return {.blocks = {{zeros, zeros}}};
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition&,
                     const ForwardContext&) override {
    return run(ahead_, x, cache);
  }

 private:
  /// The source column of each column of a row whose tokens are reversed. // [B, T]
  static torch::Tensor reversal(const torch::Tensor& x, const torch::Tensor& padding_mask) {
    const auto column = torch::ones_like(x.select(-1, 0), torch::kLong).cumsum(1) - 1;
    const auto length = padding_mask.defined() ? padding_mask.sum(1, /*keepdim=*/true)
                                               : column.amax(1, /*keepdim=*/true) + 1;
    return torch::where(column.lt(length), length - 1 - column, column);
  }

  static torch::Tensor run(const LstmCells& lstm, const torch::Tensor& x, KVCache& cache) {
    const auto type = lstm->type();
    const auto& state = cache.concatenate();
    const auto [output, hidden, cell] =
        lstm->forward(x.to(type), state[0].to(type).unsqueeze(0), state[1].to(type).unsqueeze(0));
    cache.blocks = {{hidden.squeeze(0), cell.squeeze(0)}};
    return output.to(x.scalar_type());
  }

  int64_t width_;
  LstmCells ahead_, back_{nullptr};
};

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

class AverageMixer : public Mixer {
 public:
  AverageMixer(const Average&, const StackOptions& options)
      : causal_(options.causal),
        value_(register_module(
            "value", Linear(options.d_model, std::vector{options.d_model}, options.bias))),
        out_(register_module("out", Linear(options.d_model, std::vector{options.d_model},
                                           options.bias, Projection::output))) {}

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
    const auto zeros = torch::zeros_like(like.narrow(1, 0, 1), sum_type(like));
    return {.blocks = {{zeros, zeros.narrow(-1, 0, 1)}}};  // sum [B, 1, D], count [B, 1, 1]
  }

  torch::Tensor step(const torch::Tensor& x, KVCache& cache, const ops::AttentionPosition&,
                     const ForwardContext&) override {
    const auto& [sum, count] = cache.concatenate();
    const auto sums = sum + value_(x).cumsum(1, sum_type(x));  // [B, T, D]
    const auto counts = count + counted(x);                    // [B, T, 1]
    cache.blocks = {{sums.slice(1, -1), counts.slice(1, -1)}};
    return out_((sums / counts).to(x.scalar_type()));
  }

 private:
  /// A running sum must not be rounded to bfloat16.
  static torch::ScalarType sum_type(const torch::Tensor& x) {
    return x.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  }
  /// 1, 2, 3, ... for every position. // [B, T, D] -> [B, T, 1]
  static torch::Tensor counted(const torch::Tensor& x) {
    return torch::ones_like(x.narrow(-1, 0, 1), sum_type(x)).cumsum(1);
  }

  bool causal_;
  Linear value_, out_;
};

}  // namespace

torch::Tensor observed_heads(const torch::Tensor& values, int64_t heads, const Observer* observer) {
  if (observer == nullptr || !observer->heads) return values;
  return observer->heads(values.unflatten(-1, {heads, -1})).flatten(-2);
}

int64_t projected_width(const AttentionOptions& options, int64_t d_model) {
  if (const auto* delta = std::get_if<DeltaRule>(&options))
    return 2 * d_model + delta->value_width(d_model);
  const auto* heads = std::get_if<MultiHead>(&options);
  if (heads == nullptr) return has_projections(options) ? 3 * d_model : 0;
  const auto widths = heads_of(*heads, d_model);
  return widths.query_width() + widths.key_width() + widths.value_width();
}

std::shared_ptr<Mixer> make_mixer(const LayerOptions& layer, const StackOptions& stack) {
  auto made = std::visit([&](const auto& mixer) { return mixer.make(stack); }, layer.attention);
  if (layer.canon.has(CanonPlace::projections))
    made->convolve_projections(layer.canon, projected_width(layer.attention, stack.d_model));
  return made;
}

std::shared_ptr<Mixer> NoAttention::make(const StackOptions&) const { return nullptr; }
std::shared_ptr<Mixer> Lstm::make(const StackOptions& stack) const {
  return std::make_shared<LstmMixer>(*this, stack);
}
std::shared_ptr<Mixer> Convolution::make(const StackOptions& stack) const {
  return std::make_shared<ConvolutionMixer>(*this, stack);
}
std::shared_ptr<Mixer> Average::make(const StackOptions& stack) const {
  return std::make_shared<AverageMixer>(*this, stack);
}

}  // namespace ablate::models
