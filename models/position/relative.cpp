#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "models/position/position.h"

namespace ablate::models {
namespace {

/// key - query. // [T], [S] -> [T, S]
torch::Tensor distances(const torch::Tensor& query, const torch::Tensor& key) {
  return key.unsqueeze(0) - query.unsqueeze(1);
}

torch::Tensor per_head(const torch::Tensor& numbers) {  // [H] -> [H, 1, 1]
  return numbers.unsqueeze(-1).unsqueeze(-1);
}

/// 1 over the compression ratios 8h/H of the heads h = 1 ... H (Chi et al. 2023). // [H]
torch::Tensor sandwich_slopes(int64_t heads) {
  const auto number = torch::arange(1, heads + 1, torch::kDouble);
  return (static_cast<double>(heads) / (8 * number)).to(torch::kFloat);
}

/// A scheme that adds a number to every score which depends on the distance and the head.
class AlibiPosition : public Position {
 public:
  AlibiPosition(const Alibi& options, const PositionContext& context)
      : two_sided_(options.encoder == Sides::two_sided && !context.causal),
        slopes_(register_buffer("slopes", alibi_slopes(context.heads))) {}
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override {
    const auto distance = distances(query, key);
    const auto bias = -per_head(slopes_) * distance.abs();  // [H, T, S]
    if (!two_sided_) return bias;
    const auto head = torch::arange(slopes_.size(0), distance.device());
    const auto side = per_head(1 - 2 * head.remainder(2));  // 1: to the left, -1: to the right
    return bias.masked_fill((distance * side).gt(0), -std::numeric_limits<float>::infinity());
  }

 private:
  bool two_sided_;
  torch::Tensor slopes_;  // [H]
};

class T5Position : public Position {
 public:
  T5Position(const T5Bias& options, const PositionContext& context)
      : options_(options),
        causal_(context.causal),
        table_(register_parameter("table", {options.buckets, context.heads},
                                  Normal{context.embedding_deviation()}, Role::embedding)) {}
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override {
    const auto buckets = t5_buckets(distances(query, key), options_, causal_);
    return torch::embedding(table_, buckets).permute({2, 0, 1});
  }

 private:
  T5Bias options_;
  bool causal_;
  torch::Tensor table_;  // [buckets, H]
};

/// b = f(psi(distance) / psi(max(query, L))), psi(x) = ln(c x + 1), f a network of one hidden
/// layer; c and L are trained. Distances count without their sign, so an encoder learns no
/// direction.
class FirePosition : public Position {
 public:
  FirePosition(const Fire& options, const PositionContext& context)
      : c_(register_parameter("c", {}, Constant{0.1}, Role::vector)),
        length_(register_parameter("length", {}, Constant{512.0}, Role::vector)),
        up_(register_parameter("up", {options.hidden, 1}, Normal{1.0}, Role::embedding)),
        up_bias_(register_parameter("up_bias", {options.hidden}, Normal{0.1}, Role::vector)),
        down_(register_parameter("down", {context.heads, options.hidden},
                                 XavierUniform{.rows = {context.heads}}, Role::embedding)),
        down_bias_(register_parameter("down_bias", {context.heads}, Constant{0}, Role::vector)) {}
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override {
    const auto type = c_.scalar_type();
    const auto psi = [&](const torch::Tensor& x) { return (x * c_.abs()).log1p(); };
    const auto range = torch::maximum(query.to(type), length_.abs()).unsqueeze(1);  // [T, 1]
    const auto share = psi(distances(query, key).abs().to(type)) / psi(range);      // [T, S]
    const auto hidden = torch::relu(torch::linear(share.unsqueeze(-1), up_, up_bias_));
    return torch::linear(hidden, down_, down_bias_).permute({2, 0, 1});
  }

 private:
  torch::Tensor c_, length_;        // []
  torch::Tensor up_, up_bias_;      // [hidden, 1], [hidden]
  torch::Tensor down_, down_bias_;  // [H, hidden], [H]
};

class KerplePosition : public Position {
 public:
  KerplePosition(const Kerple& options, const PositionContext& context)
      : kernel_(options.kernel),
        amount_(register_parameter("amount", {context.heads}, UniformSoftplus{}, Role::vector)),
        shape_(register_parameter("shape", {context.heads}, UniformSoftplus{}, Role::vector)) {}
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override {
    const auto distance = distances(query, key).abs().to(amount_.scalar_type());
    const auto amount = per_head(torch::softplus(amount_)),
               shape = per_head(torch::softplus(shape_));
    if (kernel_ == KerpleKernel::logarithmic) return -amount * (distance * shape).log1p();
    // 0^b is 0 and has no gradient in b, which a logarithm of 0 would turn into NaN. The exponent
    // stays below 2, so that the kernel is positive definite.
    const auto power = distance.clamp_min(1.0).pow(shape.clamp_max(2.0));
    return -amount * power.masked_fill(distance.eq(0), 0.0);
  }

 private:
  KerpleKernel kernel_;
  torch::Tensor amount_, shape_;  // softplus of the first is a, of the second b // [H]
};

class SandwichPosition : public Position {
 public:
  SandwichPosition(const Sandwich& options, const PositionContext& context)
      : width_(options.width), slopes_(register_buffer("slopes", sandwich_slopes(context.heads))) {}
  torch::Tensor bias(const torch::Tensor& query, const torch::Tensor& key) override {
    const auto type = torch::TensorOptions(torch::kDouble).device(query.device());
    const int64_t pairs = width_ / 2;
    const auto rate =
        torch::exp(torch::arange(pairs, type) * (-std::log(10'000.0) / static_cast<double>(pairs)));
    const auto angle = distances(query, key).to(torch::kDouble).unsqueeze(-1) * rate;
    // The largest product, at distance 0, is subtracted, which does not change a softmax.
    const auto product = (angle.cos() - 1).sum(-1).to(torch::kFloat);  // [T, S]
    return per_head(slopes_) * product;
  }

 private:
  int64_t width_;
  torch::Tensor slopes_;  // [H]
};

}  // namespace

torch::Tensor alibi_slopes(int64_t heads) {
  const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<double> slopes;
  for (int64_t h = 1; h <= power; ++h)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(power)));
  for (int64_t h = 1; h <= 2 * (heads - power); h += 2)
    slopes.push_back(std::exp2(-4.0 * static_cast<double>(h) / static_cast<double>(power)));
  return torch::tensor(slopes, torch::kDouble).to(torch::kFloat);
}

torch::Tensor t5_buckets(const torch::Tensor& distance, const T5Bias& options, bool causal) {
  const int64_t count = causal ? options.buckets : options.buckets / 2;
  const int64_t exact = count / 2;
  const auto far = causal ? distance.neg().clamp_min(0) : distance.abs();
  const double spread =
      std::log(static_cast<double>(options.max_distance) / static_cast<double>(exact));
  const auto logarithm =
      (far.clamp_min(1).to(torch::kDouble) / static_cast<double>(exact)).log() / spread;
  const auto wide = (exact + (logarithm * static_cast<double>(count - exact)).floor())
                        .to(torch::kLong)
                        .clamp_max(count - 1);
  const auto bucket = torch::where(far.lt(exact), far, wide);
  return causal ? bucket : bucket + distance.gt(0) * count;
}

std::shared_ptr<Position> Alibi::make(const PositionContext& context) const {
  return std::make_shared<AlibiPosition>(*this, context);
}
std::shared_ptr<Position> T5Bias::make(const PositionContext& context) const {
  return std::make_shared<T5Position>(*this, context);
}
std::shared_ptr<Position> Fire::make(const PositionContext& context) const {
  return std::make_shared<FirePosition>(*this, context);
}
std::shared_ptr<Position> Kerple::make(const PositionContext& context) const {
  return std::make_shared<KerplePosition>(*this, context);
}
std::shared_ptr<Position> Sandwich::make(const PositionContext& context) const {
  return std::make_shared<SandwichPosition>(*this, context);
}

}  // namespace ablate::models
