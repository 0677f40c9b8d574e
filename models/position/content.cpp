#include <cmath>

#include "models/ops/positions.h"
#include "models/ops/products.h"
#include "models/position/position.h"

namespace ablate::models {
namespace {

// L layers; parameters of all layers are one tensor, whose first dimension is the layer

/// // [B, H, T, *], [B, H, S, *] -> [B, H, T, S]
torch::Tensor products(const torch::Tensor& query, const torch::Tensor& key,
                       const ops::ContentAttention& a) {
  const ops::PartOfProducts seen(a.seen, key.size(-2));
  return query.matmul(key.transpose(-1, -2));
}

double scale_of(const torch::Tensor& query) {
  return 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
}

/// All zero for a query that sees no key, after dropout. // [B, H, T, S] -> [B, H, T, S]
torch::Tensor probabilities(const torch::Tensor& scores, const ops::ContentAttention& a) {
  auto weights = ops::attention_weights(scores, a.visible, a.weighting).to(a.value.scalar_type());
  if (a.probabilities != nullptr) *a.probabilities = weights;
  return ops::dropout(weights, a.dropout);
}

torch::Tensor read(const torch::Tensor& weights, const ops::ContentAttention& a) {
  const ops::PartOfProducts seen(a.seen, weights.size(-1));
  return weights.matmul(a.value);  // [B, H, T, W]
}

/// query - key. // [T, S]
torch::Tensor behind(const ops::ContentAttention& a) {
  return a.query_positions.unsqueeze(1) - a.key_positions.unsqueeze(0);
}

Normal normal_of(int64_t width) { return {1 / std::sqrt(static_cast<double>(width))}; }

/// e_ij = q_i . (k_j + a_c) / sqrt(K), z_i = sum_j p_ij (v_j + b_c), c the distance clipped to
/// max_distance either way; each layer has its own vectors, shared by its heads.
class ShawPosition : public Position {
 public:
  ShawPosition(const Shaw& options, const PositionContext& context)
      : max_distance_(options.max_distance),
        keys_(register_parameter("keys", {context.layers, 2 * max_distance_ + 1, context.d_k},
                                 normal_of(context.d_k), Role::embedding)) {
    if (options.values)
      values_ = register_parameter("values", {context.layers, 2 * max_distance_ + 1, context.d_v},
                                   normal_of(context.d_v), Role::embedding);
  }
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& a) override {
    const auto type = a.query.scalar_type();
    const auto clipped = behind(a).neg().clamp(-max_distance_, max_distance_) + max_distance_;
    const auto query = a.factor(a.query);
    const auto all = query.matmul(keys_[a.layer].to(type).t());  // [B, H, T, 2 max_distance + 1]
    const auto content = products(query, a.key, a);
    const auto distance = all.gather(-1, clipped.expand_as(content));
    const auto weights = probabilities((content + distance) * scale_of(a.query), a);
    const auto output = read(weights, a);
    if (!values_.defined()) return output;
    const auto vectors = torch::embedding(values_[a.layer].to(type), clipped);  // [T, S, W]
    const ops::PartOfProducts seen(a.seen, weights.size(-1));
    return output + torch::einsum("bhts,tsw->bhtw", {weights, vectors});
  }

 private:
  int64_t max_distance_;
  torch::Tensor keys_;    // [L, 2 max_distance + 1, K]
  torch::Tensor values_;  // [L, 2 max_distance + 1, W] or undefined
};

/// e_ij = ((q_i + u) . k_j + (q_i + v) . W r_(i-j)) / sqrt(K), r sinusoidal vectors of distances,
/// in halves as in the authors' code; u, v and W belong to each layer. Another scale takes the
/// place of 1 / sqrt(K) for all four products.
class TransformerXlPosition : public Position {
 public:
  TransformerXlPosition(const TransformerXl& options, const PositionContext& context)
      : id_range_(context.id_range),
        frequencies_(options.frequencies),
        content_bias_(register_parameter("content_bias",
                                         {context.layers, context.heads, context.d_k}, Constant{0},
                                         Role::vector)),
        distance_bias_(register_parameter("distance_bias",
                                          {context.layers, context.heads, context.d_k}, Constant{0},
                                          Role::vector)),
        projection_(register_parameter(
            "projection", {context.layers, context.heads, context.d_k, context.d_model},
            normal_of(context.d_model), Role::matrix)) {}
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& a) override {
    const auto type = a.query.scalar_type();
    const auto u = content_bias_[a.layer].to(type).unsqueeze(1);   // [H, 1, K]
    const auto v = distance_bias_[a.layer].to(type).unsqueeze(1);  // [H, 1, K]
    // Positions in a row have few distances, each projected once.
    const auto [distances, which] =
        ops::distances(a.query_positions, a.key_positions, id_range_);  // [U], [T, S]
    const Sinusoidal halves{.layout = SinusoidalLayout::halves, .frequencies = frequencies_};
    const auto vectors = sinusoidal(distances, halves, projection_.size(-1)).to(type);  // [U, D]
    const auto projected = projection_[a.layer].to(type).matmul(vectors.t());           // [H, K, U]
    const auto content = products(a.factor(a.query + u), a.key, a);    // [B, H, T, S]
    const auto by_distance = a.factor(a.query + v).matmul(projected);  // [B, H, T, U]
    const auto scores = content + by_distance.gather(-1, which.expand_as(content));
    return read(probabilities(scores * scale_of(a.query), a), a);
  }

 private:
  int64_t id_range_;  // see PositionContext
  Frequencies frequencies_;
  torch::Tensor content_bias_, distance_bias_;  // u, v // [L, H, K]
  torch::Tensor projection_;                    // W // [L, H, K, D]
};

/// A key's position is the sum of the gates sigmoid(q_i . k_t / sqrt(K)) between query and key,
/// both included; scores gain q_i . e at that position, interpolated between whole ones. Another
/// scale than 1 / sqrt(K) changes only q_i . k_t, not q_i . e, but a parametrization by width
/// divides that by the growth of a head's width. An encoder counts from the query in both
/// directions.
class CopePosition : public Position {
 public:
  CopePosition(const Cope& options, const PositionContext& context)
      : narrowing_(context.head_narrowing),
        table_(register_parameter("table", {context.layers, context.d_k, options.positions},
                                  Constant{0}, Role::embedding)) {}
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& a) override {
    // Counted in float: bfloat16 has no fractions of numbers above 128.
    const auto wide = ops::wide_type(a.query);
    const auto scores = products(a.factor(a.query), a.key, a).to(wide) * scale_of(a.query);
    const auto gates = scores.sigmoid().masked_fill(a.visible.logical_not(), 0.0);
    const auto distance = behind(a);  // [T, S]
    // Sums from the query's own key outwards: over the keys up to it from the left, then from the
    // right.
    const auto before = (gates * distance.ge(0)).flip(-1).cumsum(-1).flip(-1);
    const auto after = (gates * distance.le(0)).cumsum(-1);
    const auto counts = torch::where(distance.ge(0), before, after)
                            .clamp_max(static_cast<double>(table_.size(-1) - 1));
    const auto below = counts.detach().floor();
    const auto query = narrowing_ == 1 ? a.query : a.query * narrowing_;
    const auto all =
        query.matmul(table_[a.layer].to(query.scalar_type())).to(wide);  // [B, H, T, positions]
    const auto low = all.gather(-1, below.to(torch::kLong));
    const auto high = all.gather(-1, counts.detach().ceil().to(torch::kLong));
    const auto share = counts - below;
    return read(probabilities(scores + low * (1 - share) + high * share, a), a);
  }

 private:
  double narrowing_;     // base width of a head over its width
  torch::Tensor table_;  // [L, K, positions]
};

/// e_ij = sum over c of softplus(q_ic) softplus(k_jc) cos((i - j) w_c - d_c) / sqrt(K), with w_c =
/// base^(-c / K) and a learned d of each layer and head.
class PopePosition : public Position {
 public:
  PopePosition(const Pope& options, const PositionContext& context)
      : base_(options.base),
        shifts_(register_parameter("angle_bias", {context.layers, context.heads, context.d_k},
                                   Constant{0}, Role::vector)) {}
  bool attends() const override { return true; }
  torch::Tensor attend(const ops::ContentAttention& a) override {
    const auto wide = ops::wide_type(a.query);
    const int64_t width = a.query.size(-1);
    const auto numbers = torch::arange(width, a.query.options().dtype(wide));
    const auto rates = (numbers * (-std::log(base_) / static_cast<double>(width))).exp();  // [K]
    // Real and imaginary parts side by side, so that their products are cosines of differences.
    const auto turned = [](const torch::Tensor& length, const torch::Tensor& angle) {
      const auto cosines = angle.cos().to(length.scalar_type());
      const auto sines = angle.sin().to(length.scalar_type());
      return torch::cat({length * cosines, length * sines}, -1);  // [B, H, T, 2 K]
    };
    const auto query = turned(torch::softplus(a.query), a.query_positions.unsqueeze(1) * rates);
    const auto angles = (a.key_positions.unsqueeze(1) * rates).unsqueeze(0) +
                        shifts_[a.layer].to(wide).unsqueeze(1);  // [H, S, K]
    // Groups of heads share keys, but not shifts.
    const auto key = turned(torch::softplus(a.key), angles);
    return read(probabilities(products(a.factor(query), key, a) * scale_of(a.query), a), a);
  }

 private:
  double base_;
  torch::Tensor shifts_;  // d // [L, H, K]
};

}  // namespace

std::shared_ptr<Position> Pope::make(const PositionContext& context) const {
  return std::make_shared<PopePosition>(*this, context);
}
std::shared_ptr<Position> Shaw::make(const PositionContext& context) const {
  return std::make_shared<ShawPosition>(*this, context);
}
std::shared_ptr<Position> TransformerXl::make(const PositionContext& context) const {
  return std::make_shared<TransformerXlPosition>(*this, context);
}
std::shared_ptr<Position> Cope::make(const PositionContext& context) const {
  return std::make_shared<CopePosition>(*this, context);
}

}  // namespace ablate::models
