#include "models/position/position.h"

#include "models/position/absolute.h"
#include "models/position/content.h"
#include "models/position/relative.h"
#include "models/position/rotary.h"

namespace ablate::models {
namespace {

struct PositionMaker {
  PositionContext context;
  std::shared_ptr<Position> operator()(const NoPosition&) const {
    return std::make_shared<Position>();
  }
  std::shared_ptr<Position> operator()(const Sinusoidal& options) const {
    return std::make_shared<SinusoidalPosition>(options, context.d_model);
  }
  std::shared_ptr<Position> operator()(const Learned& options) const {
    return std::make_shared<LearnedPosition>(options, context.d_model);
  }
  std::shared_ptr<Position> operator()(const Rotary& options) const {
    return std::make_shared<RotaryPosition>(options, context.d_k);
  }
  std::shared_ptr<Position> operator()(const Alibi& options) const {
    return std::make_shared<AlibiPosition>(options, context);
  }
  std::shared_ptr<Position> operator()(const T5Bias& options) const {
    return std::make_shared<T5Position>(options, context);
  }
  std::shared_ptr<Position> operator()(const Fire& options) const {
    return std::make_shared<FirePosition>(options, context);
  }
  std::shared_ptr<Position> operator()(const Kerple& options) const {
    return std::make_shared<KerplePosition>(options, context);
  }
  std::shared_ptr<Position> operator()(const Sandwich& options) const {
    return std::make_shared<SandwichPosition>(options, context);
  }
  std::shared_ptr<Position> operator()(const Shaw& options) const {
    return std::make_shared<ShawPosition>(options, context);
  }
  std::shared_ptr<Position> operator()(const TransformerXl&) const {
    return std::make_shared<TransformerXlPosition>(context);
  }
  std::shared_ptr<Position> operator()(const Cope& options) const {
    return std::make_shared<CopePosition>(options, context);
  }
};

}  // namespace

torch::Tensor Position::embedding(const torch::Tensor&) { return {}; }
bool Position::every_layer() const { return false; }
ops::Rotation Position::rotation(const torch::Tensor&) { return {}; }
torch::Tensor Position::bias(const torch::Tensor&, const torch::Tensor&) { return {}; }
void Position::check(int64_t) const {}
bool Position::attends() const { return false; }
torch::Tensor Position::attend(const ops::ContentAttention&) { return {}; }

PositionTerms Position::terms(const torch::Tensor& query, const torch::Tensor& key) {
  return {embedding(query),
          every_layer(),
          {rotation(query), bias(query, key), attends() ? this : nullptr, query, key}};
}

std::shared_ptr<Position> make_position(const PositionOptions& options,
                                        const PositionContext& context) {
  return std::visit(PositionMaker{context}, options);
}

}  // namespace ablate::models
