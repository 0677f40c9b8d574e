#include <ATen/ops/lstm.h>

#include <cmath>

#include "models/mixer.h"

namespace ablate::models {
namespace {

/// Input, forget, cell and output gates stacked; names and distribution are those of torch.nn.LSTM.
class LstmCellsImpl : public Module {
 public:
  LstmCellsImpl(int64_t width, int64_t hidden) {
    const auto uniform = Uniform::within(1 / std::sqrt(static_cast<double>(hidden)));
    weights_ = {register_parameter("weight_ih_l0", {4 * hidden, width}, uniform, Role::matrix),
                register_parameter("weight_hh_l0", {4 * hidden, hidden}, uniform, Role::matrix),
                register_parameter("bias_ih_l0", {4 * hidden}, uniform, Role::vector),
                register_parameter("bias_hh_l0", {4 * hidden}, uniform, Role::vector)};
    for (auto& parameter : own_parameters_)
      if (parameter.role == Role::matrix) parameter.maps.rows.assign(4, hidden);
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

}  // namespace

std::shared_ptr<Mixer> Lstm::make(const StackOptions& stack) const {
  return std::make_shared<LstmMixer>(*this, stack);
}

}  // namespace ablate::models
