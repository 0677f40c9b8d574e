#include "models/residual_mix.h"

#include <string>

#include "models/linear.h"
#include "models/ops/doubly_stochastic.h"
#include "models/ops/weight_casts.h"
#include "models/rms.h"

namespace ablate::models {
namespace {

/// Base of the mixes that keep a tensor for each of the earlier layers.
class KeptLayers : public ResidualMix {
 public:
  MixedStream start(const torch::Tensor& embedding) const override {
    return {.kept = {embedding}, .streams = {}, .mixing = {}, .adding = {}};
  }
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
  explicit AttentionResiduals(const StackOptions& stack) {
    for (int64_t depth = 1; depth <= stack.depth; ++depth)
      queries_.push_back(register_parameter("query_" + std::to_string(depth), {stack.d_model},
                                            Constant{0}, Role::vector));
  }

  torch::Tensor read(MixedStream& stream, int64_t depth) const override {
    if (depth == 0) return stream.kept.front();
    const auto values = torch::stack(stream.kept, 2);  // [B, T, layers, D]
    const auto query =
        ops::weight_in(queries_.at(static_cast<size_t>(depth - 1)), values.scalar_type());
    const auto weights = (rms(values) * query).sum(-1, /*keepdim=*/true).softmax(2);
    return (weights * values).sum(2);
  }
  void write(MixedStream& stream, const torch::Tensor& input,
             const torch::Tensor& output) const override {
    stream.kept.push_back(output - input);
  }

 private:
  std::vector<torch::Tensor> queries_;  // [D]
};

class HyperConnections : public ResidualMix {
 public:
  HyperConnections(const HyperMix& options, const StackOptions& stack)
      : streams_(options.streams),
        manifold_(options.manifold),
        parts_{streams_, streams_, streams_ * streams_} {
    for (int64_t depth = 1; depth <= stack.depth; ++depth) {
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

  MixedStream start(const torch::Tensor& embedding) const override {
    return {.kept = {},
            .streams = embedding.unsqueeze(2).expand({-1, -1, streams_, -1}),
            .mixing = {},
            .adding = {}};
  }

  torch::Tensor read(MixedStream& stream, int64_t depth) const override {
    const auto& x = stream.streams;  // [B, T, N, D]
    if (depth == std::ssize(dynamic_)) return x.mean(2);
    const auto weights = weights_at(depth, x);
    const auto identity = torch::eye(streams_, weights[0].options());
    const auto own = identity.select(0, depth % streams_);  // the stream that is read at first
    const auto mixing = weights[2].unflatten(-1, {streams_, streams_});  // [B, T, N, N]
    const auto type = x.scalar_type();
    stream.mixing =
        (manifold_ ? ops::doubly_stochastic(mixing + kSure * identity) : mixing + identity)
            .to(type);
    stream.adding = (manifold_ ? 2 * weights[1].sigmoid() : weights[1] + 1).to(type).unsqueeze(-1);
    const auto reading =
        manifold_ ? (weights[0] + kSure * (2 * own - 1)).sigmoid() : weights[0] + own;  // [B, T, N]
    return (reading.to(type).unsqueeze(-1) * x).sum(2);
  }

  void write(MixedStream& stream, const torch::Tensor& input,
             const torch::Tensor& output) const override {
    const auto added = (output - input).unsqueeze(2);  // [B, T, 1, D]
    stream.streams = stream.mixing.matmul(stream.streams) + stream.adding * added;
  }

 private:
  static constexpr double kFirstFactor = 0.01;  // of what depends on the position
  static constexpr double kSure = 4;  // its sigmoid is almost 1, and nearly all of a softmax

  /// Weights of reading, adding and mixing, at first about 0, in float or wider.
  /// // [B, T, N, D] -> [B, T, N], [B, T, N], [B, T, N N]
  std::vector<torch::Tensor> weights_at(int64_t depth, const torch::Tensor& x) const {
    const auto at = static_cast<size_t>(depth);
    const auto type = x.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
    auto dynamic = dynamic_[at]->forward(rms(x.flatten(-2))).to(type);  // [B, T, N (N + 2)]
    if (!manifold_) dynamic = dynamic.tanh();
    auto weights = dynamic.split_with_sizes(parts_, -1);
    const auto fixed = fixed_[at].to(type).split_with_sizes(parts_);
    const auto factors = factors_[at].to(type).unbind();
    for (size_t i = 0; i < parts_.size(); ++i) weights[i] = weights[i] * factors[i] + fixed[i];
    return weights;
  }

  int64_t streams_;
  bool manifold_;
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
    return std::make_shared<HyperConnections>(o, stack);
  }
};

}  // namespace

std::shared_ptr<ResidualMix> make_residual_mix(const StackOptions& stack) {
  return std::visit(Make{stack}, stack.residual_mix);
}

}  // namespace ablate::models
