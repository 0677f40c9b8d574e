#include "models/position/position.h"

namespace ablate::models {
torch::Tensor Position::embedding(const torch::Tensor&, int64_t) { return {}; }
bool Position::every_layer() const { return false; }
ops::Rotation Position::rotation(const torch::Tensor&) { return {}; }
torch::Tensor Position::bias(const torch::Tensor&, const torch::Tensor&) { return {}; }
void Position::check(int64_t) const {}
bool Position::attends() const { return false; }
torch::Tensor Position::attend(const ops::ContentAttention&) { return {}; }

PositionTerms Position::terms(const torch::Tensor& query, const torch::Tensor& key) {
  return {embedding(query, key.size(0)),
          every_layer(),
          {rotation(query), bias(query, key), attends() ? this : nullptr, query, key}};
}

std::shared_ptr<Position> make_position(const PositionOptions& options,
                                        const PositionContext& context) {
  return std::visit([&](const auto& scheme) { return scheme.make(context); }, options);
}

std::shared_ptr<Position> NoPosition::make(const PositionContext&) const {
  return std::make_shared<Position>();
}

}  // namespace ablate::models
