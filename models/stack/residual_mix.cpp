#include "models/stack/residual_mix.h"

#include <string>

#include "models/linear.h"
#include "models/ops/doubly_stochastic.h"
#include "models/ops/elementwise.h"
#include "models/ops/weight_casts.h"
#include "models/rms.h"

namespace ablate::models {
namespace {

/// Base of the mixes that keep a tensor for each of the earlier layers.
class KeptLayers : public ResidualMix {
 public:
  MixedStream start(const torch::Tensor& embedding) const override { return {.kept = {embedding}}; }
};

class DenseResiduals : public KeptLayers {
 public:
  explicit DenseResiduals(const StackOptions& stack) {
    for (int64_t depth = 1; depth <= stack.depth; ++depth)
      changes_.push_back(register_parameter("change_" + std::to_string(depth), {depth + 1},
                                            Constant{0}, Role::vector));
  }

  torch::Tensor read(MixedStream& stream, int64_t depth) const override {
    auto sum = stream.kept.back();
    if (depth == 0) return sum;
    const auto change = ops::weight_in(changes_.at(static_cast<size_t>(depth - 1)),
                                       sum.scalar_type());  // of the weights 0, ..., 0, 1
    for (size_t i = 0; i < stream.kept.size(); ++i)
      sum = sum + stream.kept[i] * change[static_cast<int64_t>(i)];
    return sum;
  }
  void write(MixedStream& stream, const torch::Tensor&,
             const torch::Tensor& output) const override {
    stream.kept.push_back(output);
  }

 private:
  std::vector<torch::Tensor> changes_;  // [depth + 1]
};

class AttentionResiduals : public KeptLayers {
 public:
  explicit AttentionResiduals(const StackOptions& stack) : narrowing_(stack.narrowing()) {
    for (int64_t depth = 1; depth <= stack.depth; ++depth)
      queries_.push_back(register_parameter("query_" + std::to_string(depth), {stack.d_model},
                                            Constant{0}, Role::vector));
  }

  torch::Tensor read(MixedStream& stream, int64_t depth) const override {
    if (depth == 0) return stream.kept.front();
    const auto values = torch::stack(stream.kept, 2);  // [B, T, layers, D]
    const auto query =
        ops::weight_in(queries_.at(static_cast<size_t>(depth - 1)), values.scalar_type());
    const auto scores = (rms(values) * query).sum(-1, /*keepdim=*/true);
    const auto weights = (narrowing_ == 1 ? scores : scores * narrowing_).softmax(2);
    return (weights * values).sum(2);
  }
  void write(MixedStream& stream, const torch::Tensor& input,
             const torch::Tensor& output) const override {
    stream.kept.push_back(output - input);
  }

 private:
  double narrowing_;                    // base width over width, as of logits
  std::vector<torch::Tensor> queries_;  // [D]
};

/// Base of the mixes with several streams.
class StreamMix : public ResidualMix {
 public:
  StreamMix(const HyperMix& options, const StackOptions& stack)
      : streams_(options.streams), depth_(stack.depth) {}

  MixedStream start(const torch::Tensor& embedding) const override {
    return {.streams = embedding.unsqueeze(2).expand({-1, -1, streams_, -1})};
  }

  torch::Tensor read(MixedStream& stream, int64_t depth) const override {
    const auto& x = stream.streams;  // [B, T, N, D]
    if (depth == depth_) return x.mean(2);
    const auto weights = weights_at(depth, x);
    const auto type = x.scalar_type();
    stream.mixing = weights.mixing.to(type);
    stream.adding = weights.adding.to(type).unsqueeze(-1);
    return (weights.reading.to(type).unsqueeze(-1) * x).sum(2);
  }

  void write(MixedStream& stream, const torch::Tensor& input,
             const torch::Tensor& output) const override {
    const auto added = (output - input).unsqueeze(2);  // [B, T, 1, D]
    stream.streams = stream.mixing.matmul(stream.streams) + stream.adding * added;
  }

 protected:
  static constexpr double kFirstFactor = 0.01;  // of what depends on the position

  struct Weights {
    torch::Tensor reading, adding, mixing;  // [B, T, N], [B, T, N], [B, T, N, N]
  };
  /// In float or wider. // [B, T, N, D]
  virtual Weights weights_at(int64_t depth, const torch::Tensor& x) const = 0;

  torch::Tensor identity(const torch::Tensor& like) const {
    return torch::eye(streams_, like.options());
  }
  /// 1 for the stream that a layer reads at first. // [N]
  torch::Tensor own(int64_t depth, const torch::Tensor& like) const {
    return identity(like).select(0, depth % streams_);
  }

  int64_t streams_, depth_;
};

/// Mixes by any matrix. The weights of a stream, which are a row of numbers for reading it, for its
/// part of each new stream and for adding to it, depend on this stream alone.
class HyperConnections : public StreamMix {
 public:
  HyperConnections(const HyperMix& options, const StackOptions& stack) : StreamMix(options, stack) {
    for (int64_t depth = 1; depth <= depth_; ++depth) {
      const auto number = std::to_string(depth);
      dynamic_.push_back(register_parameter("dynamic_" + number, {streams_ + 2, stack.d_model},
                                            Constant{0}, Role::gate));
      fixed_.push_back(register_parameter("fixed_" + number, {streams_, streams_ + 2}, Constant{0},
                                          Role::vector));
      factors_.push_back(
          register_parameter("factors_" + number, {2}, Constant{kFirstFactor}, Role::vector));
    }
  }

 private:
  Weights weights_at(int64_t depth, const torch::Tensor& x) const override {
    const auto at = static_cast<size_t>(depth);
    const auto type = ops::wide_type(x);
    const auto dynamic =
        torch::linear(rms(x), ops::weight_in(dynamic_[at], x.scalar_type())).to(type).tanh();
    const auto factors = factors_[at].to(type);
    const auto factor = torch::cat(
        {factors.narrow(0, 0, 1).expand({streams_ + 1}), factors.narrow(0, 1, 1)});  // [N + 2]
    const auto weights = dynamic * factor + fixed_[at].to(type);  // [B, T, N, N + 2]
    return {.reading = weights.select(-1, 0) + own(depth, weights),
            .adding = weights.select(-1, streams_ + 1) + 1,
            .mixing = weights.narrow(-1, 1, streams_).transpose(-1, -2) + identity(weights)};
  }

  std::vector<torch::Tensor> dynamic_;  // of each layer // [N + 2, D]
  std::vector<torch::Tensor> fixed_;    // [N, N + 2]
  std::vector<torch::Tensor> factors_;  // of reading and mixing, and of adding // [2]
};

/// Mixes by a doubly stochastic matrix. All weights depend on all streams.
class ManifoldConnections : public StreamMix {
 public:
  ManifoldConnections(const HyperMix& options, const StackOptions& stack)
      : StreamMix(options, stack), parts_{streams_, streams_, streams_ * streams_} {
    for (int64_t depth = 1; depth <= depth_; ++depth) {
      const auto number = std::to_string(depth);
      dynamic_.push_back(register_module(
          "dynamic_" + number,
          Linear(streams_ * stack.d_model, parts_, /*with_bias=*/false, Projection::head_gate)));
      fixed_.push_back(register_parameter("fixed_" + number, {streams_ * (streams_ + 2)},
                                          Constant{0}, Role::vector));
      factors_.push_back(
          register_parameter("factors_" + number, {3}, Constant{kFirstFactor}, Role::vector));
    }
  }

 private:
  static constexpr double kSure = 4;  // its sigmoid is almost 1, and nearly all of a softmax

  Weights weights_at(int64_t depth, const torch::Tensor& x) const override {
    const auto at = static_cast<size_t>(depth);
    const auto type = ops::wide_type(x);
    auto weights = dynamic_[at]->forward(rms(x.flatten(-2))).to(type).split_with_sizes(parts_, -1);
    const auto fixed = fixed_[at].to(type).split_with_sizes(parts_);
    const auto factors = factors_[at].to(type).unbind();
    for (size_t i = 0; i < parts_.size(); ++i) weights[i] = weights[i] * factors[i] + fixed[i];
    const auto mixing = weights[2].unflatten(-1, {streams_, streams_});
    return {.reading = (weights[0] + kSure * (2 * own(depth, mixing) - 1)).sigmoid(),
            .adding = 2 * weights[1].sigmoid(),
            .mixing = ops::doubly_stochastic(mixing + kSure * identity(mixing))};
  }

  std::vector<int64_t> parts_;          // of reading, adding and mixing
  std::vector<Linear> dynamic_;         // of each layer
  std::vector<torch::Tensor> fixed_;    // [N (N + 2)]
  std::vector<torch::Tensor> factors_;  // [3]
};

struct Make {
  const StackOptions& stack;

  std::shared_ptr<ResidualMix> operator()(const NoMix&) const { return nullptr; }
  std::shared_ptr<ResidualMix> operator()(const DenseMix&) const {
    return std::make_shared<DenseResiduals>(stack);
  }
  std::shared_ptr<ResidualMix> operator()(const AttentionMix&) const {
    return std::make_shared<AttentionResiduals>(stack);
  }
  std::shared_ptr<ResidualMix> operator()(const HyperMix& o) const {
    if (o.manifold) return std::make_shared<ManifoldConnections>(o, stack);
    return std::make_shared<HyperConnections>(o, stack);
  }
};

}  // namespace

std::shared_ptr<ResidualMix> make_residual_mix(const StackOptions& stack) {
  return std::visit(Make{stack}, stack.residual_mix);
}

}  // namespace ablate::models
